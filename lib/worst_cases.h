#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "pw/dataset.h"

namespace pw {

// The CSV of the `count` rows with the largest relative error of overall_perf, largest first, equal
// ones by row number. `predicted`: overall_perf, as `rows`. `paths`: the data set's files; columns
// that only some of them have are empty elsewhere. Source: spec of the published training, "Output
// files".
std::string worst_cases_csv(const Dataset& data, const std::vector<std::filesystem::path>& paths,
                            const std::vector<std::int64_t>& rows,
                            const std::vector<float>& predicted, std::size_t count);

}  // namespace pw
