#pragma once

#include <string>
#include <vector>

#include "pw/comparison.h"

namespace pw {

// The measured value of each metric over `runs`, empty where no run has a usable one.
TimesMs measured_times(const TimesMs& predicted, const std::vector<MeasuredRun>& runs,
                       RunRule rule);

// "median of 5", "best of 5", "median of 4 without the first".
std::string rule_label(RunRule rule, std::size_t runs);
// The same for one metric: "median of 1 (5 runs)" where only one of five runs has a usable value.
std::string rule_label(RunRule rule, const std::vector<MeasuredRun>& runs, Metric metric);

// (predicted - measured) / measured in %.
inline double signed_error_percent(double predicted, double measured) {
  return (predicted - measured) / measured * 100;
}

}  // namespace pw
