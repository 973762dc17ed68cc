#include <algorithm>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/files.h"
#include "pw/trainer.h"
#include "support/error_of.h"
#include "support/synthetic_gemm.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

using testing::AllOf;
using testing::HasSubstr;

namespace fs = std::filesystem;

constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

// One preset with options under which a run passes everything that its state must keep.
struct Preset {
  const char* name;
  ModelKind kind;
  std::size_t epochs;
  std::vector<std::size_t> stops;  // epochs after which the run is interrupted
};

// The learning rate drops and the best epoch is passed.
MlpOptions mlp_options() {
  MlpOptions options;
  options.epochs = 14;
  options.batch_size = 32;
  options.learning_rate = 0.02;
  options.scheduler_patience = 0;
  options.early_stopping_patience = 100;
  return options;
}

RatioOptions ratio_options() {
  RatioOptions options;
  options.epochs = 3;
  options.members = 2;
  options.batch_size = 32;
  options.hidden_widths = {16, 8};
  return options;
}

// Stops of log_ratio: within a member, between two, between the fits, within the refit.
const Preset kPresets[] = {{"published", ModelKind::efficiency, 14, {1, 6, 13}},
                           {"recommended", ModelKind::log_ratio, 12, {1, 3, 5, 6, 8}}};

class ResumeTest : public testing::TestWithParam<Preset> {
 protected:
  TrainingRun run(const char* name, std::size_t stop_after, RunControl control,
                  std::int64_t seed = 42) {
    std::size_t epochs = 0;
    const auto count = [&](const EpochReport&) { ++epochs; };
    const std::size_t before = epochs_before_;
    control.stop = [&epochs, before, stop_after] { return before + epochs >= stop_after; };
    if (GetParam().kind == ModelKind::log_ratio) {
      RatioOptions options = ratio_options();
      options.seed = seed;
      return run_log_ratio_training(data_, &test_, options, path(name), count, control);
    }
    MlpOptions options = mlp_options();
    options.seed = seed;
    return run_mlp_training(data_, &test_, options, path(name), count, control);
  }
  fs::path path(const char* name) const { return folder_.path() / name; }
  RunControl saving() const {
    RunControl control;
    control.save_state = path("state");
    return control;
  }
  RunControl resuming() const {
    RunControl control = saving();
    control.resume = path("state");
    return control;
  }
  std::string resume_error(std::int64_t seed = 42) {
    return error_of([&] { run("m.pt", kNever, resuming(), seed); });
  }

  const TemporaryFolder folder_;
  const Dataset data_ = synthetic_data(40, 0, GetParam().kind);
  const Dataset test_ = synthetic_data(10, 500, GetParam().kind);
  std::size_t epochs_before_ = 0;
};

TEST_P(ResumeTest, EndsWithTheBytesOfAnUninterruptedRun) {
  const TrainingRun whole = run("whole.pt", kNever, {});
  ASSERT_EQ(whole.curve.size(), GetParam().epochs);
  EXPECT_FALSE(whole.stopped);
  const std::string expected = read_file(path("whole.pt"));
  for (const std::size_t stop : GetParam().stops) {
    epochs_before_ = 0;
    const TrainingRun first = run("first.pt", stop, saving());
    EXPECT_TRUE(first.stopped);
    EXPECT_EQ(first.curve.size(), stop);
    epochs_before_ = stop;
    const TrainingRun second = run("second.pt", kNever, resuming());
    EXPECT_FALSE(second.stopped);
    EXPECT_TRUE(expected == read_file(path("second.pt"))) << "stopped after " << stop;
    EXPECT_EQ(second.validation_predictions, whole.validation_predictions);
    ASSERT_EQ(second.curve.size(), whole.curve.size());
    for (std::size_t i = 0; i < whole.curve.size(); ++i) {
      EXPECT_EQ(second.curve[i].epoch, whole.curve[i].epoch);
      EXPECT_EQ(second.curve[i].train_loss, whole.curve[i].train_loss);
      EXPECT_EQ(second.curve[i].validation_loss, whole.curve[i].validation_loss);
      EXPECT_EQ(second.curve[i].learning_rate, whole.curve[i].learning_rate);
    }
  }
}

TEST_P(ResumeTest, MayBeInterruptedAfterEveryEpoch) {
  run("whole.pt", kNever, {});
  run("m.pt", 1, saving());
  for (epochs_before_ = 1; epochs_before_ < GetParam().epochs; ++epochs_before_) {
    run("m.pt", epochs_before_ + 1, resuming());
  }
  EXPECT_TRUE(read_file(path("whole.pt")) == read_file(path("m.pt")));
}

TEST_P(ResumeTest, GoesOnFromTheLastStateOfAKilledRun) {
  run("whole.pt", kNever, {});
  RunControl control = saving();
  control.save_every = 2;
  std::size_t epochs = 0;
  const auto die = [&](const EpochReport&) {
    if (++epochs == 6) {
      throw std::runtime_error("killed");
    }
  };
  if (GetParam().kind == ModelKind::log_ratio) {
    EXPECT_THROW(run_log_ratio_training(data_, &test_, ratio_options(), path("m.pt"), die, control),
                 std::runtime_error);
  } else {
    EXPECT_THROW(run_mlp_training(data_, &test_, mlp_options(), path("m.pt"), die, control),
                 std::runtime_error);
  }
  EXPECT_FALSE(fs::exists(path("m.pt")));
  epochs_before_ = 4;
  EXPECT_EQ(run("m.pt", kNever, resuming()).curve.size(), GetParam().epochs);
  EXPECT_TRUE(read_file(path("whole.pt")) == read_file(path("m.pt")));
}

TEST_P(ResumeTest, RefusesAStateThatIsNotItsOwn) {
  EXPECT_THAT(resume_error(), HasSubstr("state"));  // no such file
  run("m.pt", 1, saving());
  EXPECT_THAT(resume_error(43),
              AllOf(HasSubstr("other options or data"), HasSubstr("/training/seed")));
  const std::string state = read_file(path("state"));
  for (const std::size_t place : {state.size() / 2, state.size() - 1}) {
    std::string damaged = state;
    damaged[place] = static_cast<char>(damaged[place] ^ 1);
    write_file_atomic(path("state"), damaged);
    EXPECT_THAT(resume_error(), HasSubstr("damaged"));
  }
  write_file_atomic(path("state"), state.substr(0, state.size() / 2));
  EXPECT_THAT(resume_error(), HasSubstr("damaged"));
  write_file_atomic(path("state"), state.substr(5));
  EXPECT_THAT(resume_error(), HasSubstr("no state"));
}

INSTANTIATE_TEST_SUITE_P(Presets, ResumeTest, testing::ValuesIn(kPresets),
                         [](const auto& preset) { return std::string(preset.param.name); });

TEST(StoppedRun, PublishedKeepsTheBestEpochSoFar) {
  const TemporaryFolder folder;
  const Dataset data = synthetic_data(40);
  std::size_t epochs = 0;
  RunControl control;
  control.stop = [&] { return ++epochs == 4; };
  const TrainingRun run =
      run_mlp_training(data, nullptr, mlp_options(), folder.path() / "m.pt", nullptr, control);
  EXPECT_TRUE(run.stopped);
  EXPECT_TRUE(run.saved);
  EXPECT_TRUE(fs::exists(folder.path() / "m.pt"));
  EXPECT_EQ(run.record.training.back().first, "stopped");
  double best = std::numeric_limits<double>::infinity();
  for (const EpochReport& report : run.curve) {
    best = std::min(best, report.validation_loss.value());
  }
  EXPECT_NEAR(run.record.metrics[0].second.mean_relative_error, best, 1e-5);
}

TEST(StoppedRun, RecommendedKeepsACompleteFitOnly) {
  const TemporaryFolder folder;
  const Dataset data = synthetic_data(40, 0, ModelKind::log_ratio);
  for (const std::size_t stop : {5u, 6u, 7u}) {  // a fit has 6 epochs
    std::size_t epochs = 0;
    RunControl control;
    control.stop = [&] { return ++epochs == stop; };
    const fs::path output = folder.path() / "m.pt";
    const TrainingRun run =
        run_log_ratio_training(data, nullptr, ratio_options(), output, nullptr, control);
    EXPECT_TRUE(run.stopped);
    EXPECT_EQ(run.saved, stop >= 6);
    EXPECT_EQ(fs::exists(output), stop >= 6);
    if (run.saved) {
      EXPECT_EQ(run.record.training.back().first, "stopped");
    }
  }
}

}  // namespace
}  // namespace pw
