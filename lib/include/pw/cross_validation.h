#pragma once

#include <cstdint>
#include <vector>

#include "pw/dataset.h"
#include "pw/error_band.h"
#include "pw/model_record.h"
#include "pw/trainer.h"

namespace pw {

// Rows of a data set that a model is fitted on and those that it is tested on; no row is in two
// parts.
struct Fold {
  std::vector<std::int64_t> training;
  // Of problems, groups or GPUs (see what made the fold) that the training rows do not have.
  std::vector<std::int64_t> unseen;
  // Other problems of groups or GPUs that the training rows do have; may be empty.
  std::vector<std::int64_t> seen = {};
};

// Each group is unseen in exactly one of `folds` folds; groups are dealt in random order. Throws
// DataError for fewer groups than folds.
std::vector<Fold> group_folds(const std::vector<std::uint64_t>& group_of_row, std::int64_t folds,
                              std::int64_t seed);

// Each GPU is unseen in one fold. Throws DataError when there is only one GPU.
std::vector<Fold> gpu_folds(const Dataset& data);

// Takes `fraction` of the training rows out of each fold as its seen ones, whole problems.
void keep_seen_rows(const Dataset& data, double fraction, std::int64_t seed,
                    std::vector<Fold>& folds);

// "groups of equal N, K": what folds of Dataset::hold_out_group hold out.
std::string described_groups(const Dataset& data);

struct CrossValidation {
  LabelledMetrics metrics;
  std::vector<FitErrors> unseen;  // of each fold's model on its unseen rows
};

// Fits one model per fold to its training rows and tells how the models do on the rows that they
// were not fitted on, those of all folds together: "seen", if there are such rows, and "unseen",
// over all rows and per GPU. Models of kind efficiency take their validation rows out of the
// training rows. (Defined in pw_torch.)
CrossValidation cross_validate(const Dataset& data, const std::vector<Fold>& folds,
                               const MlpOptions& options, const ProgressCallback& progress);
CrossValidation cross_validate(const Dataset& data, const std::vector<Fold>& folds,
                               const RatioOptions& options, const ProgressCallback& progress);

}  // namespace pw
