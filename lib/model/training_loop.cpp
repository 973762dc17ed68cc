#include "model/training_loop.h"

#include <chrono>

#include "model/threads.h"
#include "model/training_record.h"

namespace pw {
namespace {

void save_state(const EpochTraining& training, const ModelRecord& record,
                const std::vector<EpochReport>& curve, const std::filesystem::path& path) {
  TrainingState state(record_json(record));
  training.save(state);
  put_curve(state, curve);
  state.save(path);
}

}  // namespace

std::vector<EpochReport> run_epochs(EpochTraining& training, const ModelRecord& record,
                                    const ProgressCallback& progress, const RunControl& control) {
  check_at_least("save_every", control.save_every, 1);
  keep_freed_memory();
  std::vector<EpochReport> curve;
  if (control.resume) {
    const TrainingState state = TrainingState::load(*control.resume, record_json(record));
    training.load(state);
    curve = take_curve(state);
  }
  bool stopped = false;
  while (!stopped && !training.finished()) {
    const auto start = std::chrono::steady_clock::now();
    EpochReport report = training.next_epoch();
    report.epoch = static_cast<std::int64_t>(curve.size());
    report.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    curve.push_back(report);
    if (progress) {
      progress(report);
    }
    stopped = control.stop && control.stop();
    if (control.save_state && (stopped || (report.epoch + 1) % control.save_every == 0)) {
      save_state(training, record, curve, *control.save_state);
    }
  }
  return curve;
}

}  // namespace pw
