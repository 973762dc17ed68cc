#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pw/comparison.h"

namespace pw {

inline constexpr char kNotAvailable[] = "n/a";

// "12.30"; "n/a" when empty.
std::string fixed(std::optional<double> value, int decimals);

// Rounded to `decimals`, as short as it parses back: "12.3"; "n/a" when empty.
std::string shortest(std::optional<double> value, int decimals);

// "Llama-3.1-70B vllm arxiv16", or the label of a case that has no more.
std::string short_name(const CaseName& name);

// "SGLang", "vLLM".
std::string engine_title(std::string_view engine);

// Rows of cells, the first being the header.
using TextTable = std::vector<std::vector<std::string>>;
// Columns apart by two spaces, the first `left` ones flush left, the others right.
std::string plain_table(const TextTable& table, std::size_t left, const std::string& indent);
std::string markdown_table(const TextTable& table, std::size_t left);

// The table of all cases for each method and engine, by metric: what a reader looks at first.
TextTable overall_table(const std::vector<ErrorSummary>& summaries);

// "GPU", "model", "GPU in training or not": what the groups of a scope are.
std::string scope_title(std::string_view scope);

// Mean errors by group (rows) and method (columns) of one scope, engine and metric; empty when
// there are none.
TextTable mean_error_table(const Comparison& comparison, const std::vector<ErrorSummary>& summaries,
                           std::string_view scope, std::string_view engine, Metric metric);

// All cases with their errors: one row per case, or one per case and phase.
TextTable case_table(const Comparison& comparison);
TextTable phase_table(const Comparison& comparison);

// "median of the runs of each case, by metric": what the rule means, in words.
std::string describe(RunRule rule);

// Engines that occur, in order.
std::vector<std::string> engines_of(const Comparison& comparison);

}  // namespace pw
