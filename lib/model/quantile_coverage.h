#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pw/dataset.h"
#include "pw/model_record.h"

namespace pw {

// evaluate_coverage for some rows of the data set.
LabelledCoverage coverage_of_rows(const OperatorModel& model, const Dataset& data,
                                  const std::vector<std::int64_t>& rows, const std::string& label);

// Coverage of parts that were measured one after the other, put together by label: rows add up, and
// shares are weighted by them.
LabelledCoverage pooled(const std::vector<LabelledCoverage>& parts);

}  // namespace pw
