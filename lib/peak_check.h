#pragma once

#include "pw/operators.h"

namespace pw {

// How much of what the GPU can do at most a measured duration implies; above 1 is impossible.
// The larger of two fractions: of the pipes' operations, and of what the L2 cache can deliver.
// Counts only what the result needs, no padded tiles and each byte once, so that a legitimate row
// never exceeds 1. Families without tensor work: both of their pipes at once.
double fraction_of_peak(const OperatorConfig& config, const PipelineFeatures& features,
                        double duration_us, const HardwareSpec& hardware);

}  // namespace pw
