#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pw/dataset.h"
#include "pw/model_record.h"

namespace pw {

// Compares predicted with measured overall_perf, at least one row each. Predictions are clipped to
// 1e-9 from below first. Source: spec of the published training, "Evaluation".
Metrics compute_metrics(const std::vector<float>& predicted, const std::vector<float>& measured);

// "<label>" over all rows, then "<label>: <GPU>" for each GPU in order of first appearance.
// `hardware` holds one index into `names` per row.
LabelledMetrics metrics_by_hardware(const std::vector<float>& predicted,
                                    const std::vector<float>& measured,
                                    const std::vector<std::uint32_t>& hardware,
                                    const std::vector<std::string>& names,
                                    const std::string& label);

// Raw features of some rows in the model's order, row-major. Throws DataError when the data set is
// of another operator or was read for the other kind of models.
std::vector<float> model_inputs(const ModelRecord& record, const Dataset& data,
                                const std::vector<std::int64_t>& rows);

// overall_perf that the model predicts for some rows of a data set of its operator, unclipped.
std::vector<float> predicted_efficiency(const OperatorModel& model, const Dataset& data,
                                        const std::vector<std::int64_t>& rows);

// metrics_by_hardware for these predictions.
LabelledMetrics metrics_of_rows(const Dataset& data, const std::vector<std::int64_t>& rows,
                                const std::vector<float>& predicted, const std::string& label);

// The error that the worst rows are ranked by, of predictions that are clipped to 1e-9 first.
// Source as compute_metrics; float32 like the original.
float relative_error(float predicted, float measured);

// The metrics of some rows of a data set of the model's operator, as evaluate_model gives
// them for all.
LabelledMetrics evaluate_rows(const OperatorModel& model, const Dataset& data,
                              const std::vector<std::int64_t>& rows, const std::string& label);

// The value below which `fraction` of the sorted values lie, interpolated linearly.
double quantile_of_sorted(const std::vector<float>& sorted, double fraction);

}  // namespace pw
