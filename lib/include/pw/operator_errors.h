#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "pw/comparison.h"

namespace pw {

// Errors of predicted operator durations, in % of the measured ones.
struct OperatorErrorGroup {
  std::string scope;  // "all", "gpu", "size"
  std::string group;  // "NVIDIA H20", "10-100 us": the decade of the measured duration
  std::size_t n = 0;
  double mean = 0, median = 0, p95 = 0, bias = 0;   // bias: mean of signed errors
  double under_10 = 0, under_20 = 0, under_50 = 0;  // % of rows with a smaller error
};

struct OperatorErrors {
  std::size_t rows = 0;  // measured rows
  std::size_t compared = 0;
  std::vector<std::pair<std::string, std::size_t>> left_out;  // reason -> rows
  std::vector<OperatorErrorGroup> groups;
};

// `predicted` is what `pw-predict operators` writes (column predicted_duration_us); `measured` has
// the problem's columns and avg_duration (us), and may be absent when `predicted` has that column
// too. Rows are joined by the problem's columns, which are those of the operator family with most
// columns in both files, and by hardware; a problem predicted twice with different durations is a
// DataError.
OperatorErrors compare_operators(const std::filesystem::path& predicted,
                                 const std::optional<std::filesystem::path>& measured,
                                 const HardwareCatalog& catalog);

std::string operator_errors_text(const OperatorErrors& errors);
std::string operator_errors_csv(const OperatorErrors& errors);

}  // namespace pw
