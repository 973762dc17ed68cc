#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pw/dataset.h"
#include "pw/error_band.h"
#include "pw/model_record.h"

namespace pw {

// Quantiles of errors, the i-th of n being i / (n + 1), so that one more lies between p10 and p90
// in 80 % of all cases. Absent for fewer than 9, which do not tell a p10.
std::optional<ErrorBand> error_band(std::vector<double> errors);

// From the lowest p10 to the highest p90, and the median of the p50s. Absent without any.
std::optional<ErrorBand> widest_band(const std::vector<ErrorBand>& bands);

// Of overall_perf that a fit predicts for rows that it has not seen.
FitErrors fit_errors(const Dataset& data, const std::vector<std::int64_t>& rows,
                     const std::vector<float>& efficiency);

// How fits without some problems or groups err on them, on GPUs that they know otherwise. The
// coverage is measured on rows that served neither the fit nor the band: the groups of each fit's
// unseen rows are halved, and the bands of one half are tested on the other, both ways. Absent for
// too few rows.
std::optional<HeldOutErrors> known_gpu_errors(const Dataset& data,
                                              const std::vector<FitErrors>& fits,
                                              const std::vector<std::uint64_t>& group_of_row,
                                              std::int64_t seed, const std::string& held_out);

// How fits without a GPU err on it; `fits` as gpu_folds() makes them. `all` is the widest band of
// the GPUs: the rows of a GPU share much of their error, so that few GPUs tell little of the next.
// The coverage of a GPU is that of the widest band of the others; that of all is the mean.
std::optional<HeldOutErrors> new_gpu_errors(const Dataset& data, const std::vector<FitErrors>& fits,
                                            const std::string& held_out);

// The errors of a record that speak for a GPU: of fits that knew it, if the model does, else of
// fits that knew others alone. Absent where the record has none.
std::optional<ErrorBand> band_for(const ModelRecord& record, const std::string& gpu);

// Which share of the rows of a data set lies within the model's p10 to p90: of "<label>" and of
// "<label>: <GPU>". Rows of GPUs without a band are left out.
LabelledCoverage band_coverage(const OperatorModel& model, const Dataset& data,
                               const std::string& label);

}  // namespace pw
