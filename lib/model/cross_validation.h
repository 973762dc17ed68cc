#pragma once

#include <cstdint>
#include <vector>

#include "model/split.h"
#include "pw/dataset.h"

namespace pw {

// One part of a data set that a model is tested on and the rows that it may be fitted on.
struct Fold {
  std::vector<std::int64_t> training;
  // Rows of groups, GPUs or problems that the training rows do not have.
  std::vector<std::int64_t> unseen;
  // Problems that the training rows do not have, of groups or GPUs that they have; may be empty.
  std::vector<std::int64_t> seen;
};

// Each group is unseen in exactly one of `folds` folds; groups are dealt in random order. Rows keep
// their order. Throws DataError for fewer groups than folds.
std::vector<Fold> group_folds(const std::vector<std::uint64_t>& group_of_row, std::int64_t folds,
                              std::int64_t seed);

// Some rows of a data set in two parts, whole problems in each: `validation` has about `fraction` of
// them.
Split split_problems(const Dataset& data, const std::vector<std::int64_t>& rows, double fraction,
                     std::int64_t seed);

}  // namespace pw
