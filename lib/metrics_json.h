#pragma once

#include "io/json_file.h"
#include "pw/model_record.h"

namespace pw {

// Tables as records have them, by label.
Json metrics_json(const LabelledMetrics& metrics);
Json coverage_json(const LabelledCoverage& coverage);
Json held_out_errors_json(const HeldOutErrors& errors);

}  // namespace pw
