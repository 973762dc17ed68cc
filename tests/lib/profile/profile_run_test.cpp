#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/csv_table.h"
#include "io/files.h"
#include "io/json_file.h"
#include "pw/data_paths.h"
#include "pw/dataset.h"
#include "pw/profiling.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const HardwareCatalog& catalog() {
  static const HardwareCatalog shipped =
      HardwareCatalog::read(find_data_folder("hardware", std::nullopt));
  return shipped;
}
const HardwareSpec& a100() { return catalog().get("A100"); }

class FakeKernel : public ProfiledKernel {
 public:
  explicit FakeKernel(double us) : us_(us) {}
  double timed_calls_us(std::int64_t calls) override { return us_ * static_cast<double>(calls); }
  std::int64_t operand_sets() const override { return 7; }
  std::string source() const override { return "Fake 1.0 kernel, plain"; }

 private:
  double us_;
};

// A device whose kernels take as long as `us` says.
class FakeDevice : public ProfiledDevice {
 public:
  FakeDevice() {
    info_.is_gpu = true;
    info_.name = a100().name;
    info_.driver = "driver 1";
    info_.cache_bytes = 1000;
  }
  const DeviceInfo& info() const override { return info_; }
  DeviceState state() const override { return {1000.0 + static_cast<double>(prepared), 400, 0}; }
  std::string library() const override { return library_name; }
  std::string library_build() const override { return "a build"; }
  std::string dtype() const override { return "bfloat16"; }
  std::string refusal(std::string_view family) const override {
    return family == "moe" ? "Fake 1.0 has no kernel for operator 'moe'" : "";
  }
  std::unique_ptr<ProfiledKernel> prepare(const OperatorConfig& config, Operands) override {
    ++prepared;
    const auto* gemm = std::get_if<GemmConfig>(&config);
    if (gemm != nullptr && gemm->m > 1'000'000) {
      throw DoesNotFit("its operands need 9 bytes, 1 are free");
    }
    return std::make_unique<FakeKernel>(us);
  }

  double us = 300;
  int prepared = 0;
  std::string library_name = "Fake 1.0";

 private:
  DeviceInfo info_;
};

class ProfileRunTest : public testing::Test {
 protected:
  ProfileRunTest() { options_.output = folder_.path() / "rows"; }

  ProfilePlan plan(const std::string& json =
                       R"({"gemm": [{"M": [1, 2, 4, 8], "N": [512], "K": [512]}]})") const {
    return read_profile_plan(folder_.file("plan.json", json), {});
  }
  // Stops before problem number `stop_at`.
  ProfileOutcome run(const ProfilePlan& plan, int stop_at = 1000) {
    shown_.clear();
    int asked = 0;
    return run_profile(
        plan, device_, a100(), options_, [&](const ProfileProgress& p) { shown_.push_back(p); },
        [&] { return asked++ >= stop_at; });
  }
  fs::path csv(const char* family = "gemm") const {
    return options_.output / (std::string(family) + ".csv");
  }
  Json sidecar() const { return read_json(options_.output / "gemm.json"); }

  const TemporaryFolder folder_;
  FakeDevice device_;
  ProfileOptions options_;
  std::vector<ProfileProgress> shown_;
};

TEST_F(ProfileRunTest, WritesWhatTrainingReads) {
  options_.with_features = true;
  const ProfileOutcome outcome = run(plan());
  EXPECT_EQ(outcome.measured, 4u);
  EXPECT_THAT(outcome.files, ElementsAre(csv()));
  const Dataset data = read_dataset({csv()}, operator_family("gemm"), catalog(), {});
  EXPECT_EQ(data.rows(), 4u);
  EXPECT_TRUE(data.dropped.empty());
  EXPECT_THAT(data.duration_us, testing::Each(300));
  EXPECT_THAT(data.hardware_names, ElementsAre(a100().name));
  const CsvTable table = CsvTable::read(csv());
  EXPECT_THAT(std::vector(table.header().begin(), table.header().begin() + 13),
              ElementsAre("M", "N", "K", "avg_duration", "hardware", "tc_bf16", "xu_fp32",
                          "fma_fp32", "num_sms", "sm_freq", "mem_bandwidth", "l2_cache_bandwidth",
                          "shared_memory_bandwidth"));
  const CsvRow row(table, 0);
  EXPECT_EQ(row.integer("weight_copies"), 7);
  EXPECT_EQ(row.text("operands"), "cold");
  EXPECT_EQ(row.text("kernel_source"), "Fake 1.0 kernel, plain");
  EXPECT_EQ(row.number("spread"), 0);
  EXPECT_EQ(row.number("clock_mhz"), 1001);
}

TEST_F(ProfileRunTest, EveryFamilyIsReadable) {
  device_.us = 1e5;
  run(plan(R"({"attn": [{"attention_type": ["fa2_ragged"], "bs": [3], "q_length,kv_length":
               [[64, 64]], "nh,nkv,hd": [[8, 2, 128]]}],
               "rmsnorm": [{"seq": [9], "dim": [512]}], "siluandmul": [{"seq": [9], "dim": [512]}]})"));
  for (const char* family : {"attn", "rmsnorm", "siluandmul"}) {
    EXPECT_EQ(read_dataset({csv(family)}, operator_family(family), catalog(), {}).rows(), 1u)
        << family;
  }
}

TEST_F(ProfileRunTest, TheSidecarTellsWhatMeasuredAndHow) {
  options_.plan_name = "my plan";
  run(plan());
  const Json json = sidecar();
  EXPECT_EQ(json["conditions"]["device"], a100().name);
  EXPECT_EQ(json["conditions"]["driver"], "driver 1");
  EXPECT_EQ(json["conditions"]["library"], "Fake 1.0");
  EXPECT_EQ(json["conditions"]["operands"], "cold");
  EXPECT_EQ(json["library_build"], "a build");
  EXPECT_EQ(json["rows"], 4);
  EXPECT_EQ(json["plan"]["name"], "my plan");
  EXPECT_EQ(json["clocks"]["lowest_mhz"], 1001.0);
  EXPECT_EQ(json["clocks"]["highest_mhz"], 1004.0);
  EXPECT_EQ(json["clocks"]["highest_power_limit_w"], 400.0);
  EXPECT_THAT(json["written"].get<std::string>(), testing::EndsWith("Z"));
  EXPECT_THAT(json["method"]["clock"].get<std::string>(), HasSubstr("events"));
}

TEST_F(ProfileRunTest, AStoppedRunGoesOnToTheSameRows) {
  const ProfileOutcome first = run(plan(), 1);
  EXPECT_TRUE(first.stopped);
  EXPECT_EQ(first.measured, 1u);
  EXPECT_EQ(CsvTable::read(csv()).rows(), 1u);
  EXPECT_THAT(error_of([&] { run(plan()); }), HasSubstr("--resume"));
  options_.resume = true;
  const ProfileOutcome second = run(plan());
  EXPECT_EQ(second.from_before, 1u);
  EXPECT_EQ(second.measured, 3u);
  EXPECT_EQ(shown_.front().done, 2u);
  EXPECT_EQ(device_.prepared, 4) << "nothing is measured twice";
  const std::string resumed = read_file(csv());
  options_.output = folder_.path() / "at once";
  options_.resume = false;
  device_.prepared = 0;
  run(plan());
  EXPECT_EQ(read_file(csv()), resumed);
}

TEST_F(ProfileRunTest, ResumingUnderOtherConditionsIsRefused) {
  run(plan(), 1);
  options_.resume = true;
  device_.library_name = "Fake 2.0";
  EXPECT_THAT(error_of([&] { run(plan()); }),
              AllOf(HasSubstr("library \"Fake 1.0\""), HasSubstr("now it is \"Fake 2.0\"")));
  device_.library_name = "Fake 1.0";
  options_.operands = Operands::hot;
  EXPECT_THAT(error_of([&] { run(plan()); }), HasSubstr("operands"));
  options_.operands = Operands::cold;
  options_.with_features = true;
  EXPECT_THAT(error_of([&] { run(plan()); }), HasSubstr("other columns"));
}

TEST_F(ProfileRunTest, TheTimeBudgetEndsARun) {
  options_.minutes = 1e-9;
  const ProfileOutcome outcome = run(plan());
  EXPECT_TRUE(outcome.out_of_time);
  EXPECT_EQ(outcome.measured, 0u);
  EXPECT_FALSE(fs::exists(csv())) << "no file without a row";
}

TEST_F(ProfileRunTest, ARowFasterThanThePeakIsAnErrorThatKeepsTheOthers) {
  run(plan(), 2);
  options_.resume = true;
  device_.us = 0.001;  // 512 x 512 x 2 operations in a nanosecond
  EXPECT_THAT(
      error_of([&] { run(plan()); }),
      AllOf(HasSubstr("times faster than the peak of NVIDIA A100"), HasSubstr("took 0.001")));
  EXPECT_EQ(CsvTable::read(csv()).rows(), 2u);
}

TEST_F(ProfileRunTest, WeightsThatMemoryCannotDeliverAreAnError) {
  device_.us = 50;  // 1 x 8192 x 8192: 134 MB in 50 us, which the L2 cache could deliver
  EXPECT_THAT(error_of([&] { run(plan(R"({"gemm": [{"M": [1], "N": [8192], "K": [8192]}]})")); }),
              HasSubstr("times faster than its weights can be read"));
}

TEST_F(ProfileRunTest, ProblemsThatDoNotFitAreTold) {
  const ProfileOutcome outcome =
      run(plan(R"({"gemm": [{"M": [1, 2000000], "N": [512], "K": [512]}]})"));
  EXPECT_EQ(outcome.measured, 1u);
  EXPECT_THAT(outcome.not_measured,
              ElementsAre(AllOf(HasSubstr("M=2000000"), HasSubstr("need 9 bytes, 1 are free"))));
  EXPECT_EQ(sidecar()["not_measured"].size(), 1u);
}

TEST_F(ProfileRunTest, OperatorsWithoutAKernelAreRefusedByNameBeforeAnythingIsMeasured) {
  const std::string error = error_of([&] {
    run(plan(R"({"gemm": [{"M": [1], "N": [512], "K": [512]}],
                 "moe": [{"weight_type": ["w13"], "M": [8], "E": [8], "topk": [2], "H": [512],
                          "N": [512]}]})"));
  });
  EXPECT_THAT(error, AllOf(HasSubstr("operator 'moe'"), HasSubstr("--operator")));
  EXPECT_EQ(device_.prepared, 0);
  EXPECT_FALSE(fs::exists(csv()));
}

}  // namespace
}  // namespace pw
