#pragma once

#include <string>

#include "pw/comparison.h"

namespace pw {

// What changed from prediction `a` to `b`: each operator's time in prefill, in an average decode
// step and in total, as a table.
std::string prediction_diff_text(const PredictedCase& a, const PredictedCase& b);

}  // namespace pw
