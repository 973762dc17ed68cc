#pragma once

#include "pw/operators.h"

namespace pw {

// How much of what the GPU can do at most a measured duration implies; above 1 is impossible.
// Counts only the operations that the result needs, not those of padded tiles, so that a legitimate
// row never exceeds 1. Families without tensor work: both of their pipes at once.
double fraction_of_peak(const OperatorConfig& config, const PipelineFeatures& features,
                        double duration_us, const HardwareSpec& hardware);

}  // namespace pw
