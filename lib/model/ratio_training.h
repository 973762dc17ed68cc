#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include <torch/torch.h>

#include "model/ratio_net.h"
#include "model/training_loop.h"
#include "model/training_record.h"
#include "pw/dataset.h"
#include "pw/trainer.h"

namespace pw {

constexpr double kClipShare = 0.0005;  // of the training rows at each end of a feature

void check_options(const RatioOptions& options);
NamedValues options_of(const RatioOptions& options);

// Rows of a data set as tensors: raw features [rows, features] and ln(duration / bound) [rows].
struct RatioPart {
  torch::Tensor features;
  torch::Tensor targets;
  torch::Tensor weights;  // [rows], of mean 1; undefined when all rows weigh the same
};
RatioPart make_ratio_part(const Dataset& data, const std::vector<std::int64_t>& rows);

// Ranges and moments of a part. The clip ranges leave out the outermost `clip_share` of the rows
// at each end.
RatioScaling scaling_of(const RatioPart& part, double clip_share);

// The inputs of the networks, standardised.
torch::Tensor network_inputs(const RatioPart& part, const RatioScaling& scaling);

// The learning rate of step `step` of `steps`: cosine from 1/25 of the maximum up over `warm_up` of
// the steps, then cosine down to almost nothing.
double one_cycle_rate(std::int64_t step, std::int64_t steps, double warm_up, double maximum);

class MemberTraining;

// Ensembles of several sets of rows one after the other, member by member. Members of an ensemble
// differ in initial weights, order and noise alone.
class EnsembleTraining : public EpochTraining {
 public:
  // `levels`: the quantiles of ln(duration / bound) that the outputs are to be, falling; the
  // median, whose loss is the absolute error, by default. `options` must outlive the training.
  // Of the fits, those after the first `ensembles` have one member.
  EnsembleTraining(const Dataset& data, const std::vector<std::vector<std::int64_t>>& rows_of_fits,
                   const RatioOptions& options, std::vector<double> levels = {0.5},
                   std::size_t ensembles = std::numeric_limits<std::size_t>::max());
  ~EnsembleTraining() override;

  bool finished() const override;
  EpochReport next_epoch() override;
  void save(TrainingState& state) const override;
  void load(const TrainingState& state) override;

  std::size_t complete_fits() const;
  // Of a complete fit.
  std::vector<RatioNet> members(std::size_t fit) const;
  const RatioScaling& scaling(std::size_t fit) const { return fits_[fit].scaling; }
  std::int64_t parameters() const;  // of one fit

 private:
  struct Fit {
    RatioPart part;
    RatioScaling scaling;
    torch::Tensor inputs;  // standardised, on the device
  };

  std::int64_t members_of(std::size_t fit) const;
  std::size_t first_member(std::size_t fit) const;  // place in finished_; of all fits: their number
  void start_member();
  RatioNet new_net() const;

  const RatioOptions& options_;
  std::vector<double> levels_;
  std::size_t ensembles_;
  torch::Device device_;
  std::vector<Fit> fits_;
  std::vector<RatioNet> finished_;  // on the CPU, of all fits in order
  std::unique_ptr<MemberTraining> member_;
};

}  // namespace pw
