#pragma once

#include <vector>

#include "model/training_state.h"
#include "pw/trainer.h"

namespace pw {

// A training that proceeds epoch by epoch and can be set down and taken up again between two.
class EpochTraining {
 public:
  virtual ~EpochTraining() = default;
  virtual bool finished() const = 0;
  virtual EpochReport next_epoch() = 0;
  virtual void save(TrainingState& state) const = 0;
  virtual void load(const TrainingState& state) = 0;
};

// Trains from the start, or from the state to resume, until the training is finished or told to
// stop. `record` says which options and data the run has, so that a state is not resumed by another
// run. Returns the losses of all epochs, also those before the state.
std::vector<EpochReport> run_epochs(EpochTraining& training, const ModelRecord& record,
                                    const ProgressCallback& progress, const RunControl& control);

}  // namespace pw
