#pragma once

#include <string>
#include <vector>

#include "pw/comparison.h"

namespace pw {

// The colour of the `index`-th method, readable on white also for colour-blind eyes. From the 11th
// on the colours repeat, with another shape of points.
std::string method_color(std::size_t index);

// The methods of the charts with their colours, the shape beside the name where it is no circle.
std::string method_legend(const std::vector<std::string>& methods);

// "Qwen2.5-14B arxiv_8, A100, tp 1": one line that tells a case.
std::string case_title(const ComparisonRow& row);

// Coloured marks with names, as an HTML list: (colour, name).
std::string legend(const std::vector<std::pair<std::string, std::string>>& entries);

// Predicted over measured time, both logarithmic, with the band of 10 % around equality; one point
// per case. Empty without a case that has both.
std::string scatter_chart(const Comparison& comparison, Metric metric);

// Mean error by GPU, one bar per method. Empty without a value.
std::string error_bar_chart(const Comparison& comparison,
                            const std::vector<ErrorSummary>& summaries, const std::string& engine,
                            Metric metric);

// Where the predicted time of each case of a method goes, prefill and decode step: bars of 100 %,
// one colour per operator, with their legend. Empty when its predictions list no operators.
std::string operator_share_chart(const Comparison& comparison, const std::string& method);

}  // namespace pw
