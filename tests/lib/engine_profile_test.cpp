#include "pw/engine_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pw/workload.h"
#include "support/built.h"
#include "support/demo_model.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"
#include "support/test_hardware.h"

namespace pw {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr char kEngine[] = R"({"engine": "demo", "versions": [
  {"version": "1.0", "released": "2024-01", "host_us_per_iteration": 100,
   "custom_all_reduce_max_bytes": 8, "source": "made up"},
  {"version": "1.1", "released": "2024-05", "host_us_per_iteration": 50,
   "custom_all_reduce_max_bytes": 16, "small_kernel_floor_us": 1, "fused": ["qk_norm", "rope"],
   "source": "made up"}]})";

class EngineProfileTest : public testing::Test {
 protected:
  EngineProfile read(const std::string& engine) const {
    return read_engine_profile(folder_.path(), engine);
  }
  std::string error_with(const std::string& from, const std::string& to) const {
    std::string text = kEngine;
    text.replace(text.find(from), from.size(), to);
    folder_.file("demo.json", text);
    return error_of([&] { read("demo"); });
  }
  const TemporaryFolder folder_;
};

TEST_F(EngineProfileTest, TheNewestVersionUnlessOneIsNamed) {
  folder_.file("demo.json", kEngine);
  EXPECT_EQ(read("demo").version, "1.1");
  EXPECT_EQ(read("demo").host_us_per_iteration, 50);
  EXPECT_EQ(read("demo").small_kernel_floor_us, 1);
  EXPECT_EQ(read("demo").left_out.count("rope"), 1u);
  EXPECT_EQ(read("demo@1.0").host_us_per_iteration, 100);
  EXPECT_EQ(read("demo@1.0").described(), "demo 1.0");
}

TEST_F(EngineProfileTest, WhatIsNotThereIsAnsweredWithWhatIs) {
  folder_.file("demo.json", kEngine);
  folder_.file("other.json", kEngine);
  EXPECT_THAT(error_of([&] { read("demi"); }), HasSubstr("expected one of demo, other"));
  EXPECT_THAT(error_of([&] { read("demo@2"); }),
              AllOf(HasSubstr("no version '2' of demo"), HasSubstr("expected one of 1.0, 1.1")));
  EXPECT_THAT(error_of([&] { read("@1.0"); }), HasSubstr("no engine ''"));
}

TEST_F(EngineProfileTest, NamesWhatIsWrong) {
  EXPECT_THAT(error_with("\"host_us_per_iteration\": 100", "\"host_us_per_iteration\": -1"),
              HasSubstr("versions[0].host_us_per_iteration is negative"));
  EXPECT_THAT(error_with("\"fused\"", "\"fussed\""), HasSubstr("unknown key 'fussed'"));
  EXPECT_THAT(error_with("\"qk_norm\"", "\"gemm\""), HasSubstr("fused names 'gemm'"));
  EXPECT_THAT(error_with("2024-05", "2023-05"), HasSubstr("the newest must be the last"));
}

TEST_F(EngineProfileTest, TheShippedOnesAreRead) {
  for (const char* engine : {"sglang", "sglang@0.4", "vllm@0.5", "fastertransformer@5"}) {
    EXPECT_FALSE(read_engine_profile(source_folder() / "config/engines", engine).source.empty());
  }
}

// A fused kernel is not counted, a lower floor makes the small ones shorter.
TEST_F(EngineProfileTest, VersionsChangeWhatIsCounted) {
  folder_.file("demo.json", kEngine);
  const Workload workload = generate_workload(demo_model(), uniform_trace(1, 8, 2), {});
  const auto sum = [&](const std::string& engine) {
    double us = 0;
    for (const EngineOperator& each :
         engine_operators(workload.model, workload.steps[1], test_ampere(), read(engine))) {
      EXPECT_TRUE(engine != "demo" || each.name != "rope");
      us += each.name == "host" ? 0 : each.single_us * static_cast<double>(each.count);
    }
    return us;
  };
  // Per layer rope, kv_store and kv_merge, once embedding and logits, all at the floor of 2.5 us.
  EXPECT_NEAR(sum("demo@1.0"), 2.5 * (3 * 4 + 2), 0.2);
  EXPECT_LT(sum("demo"), sum("demo@1.0") * 0.8);
}

}  // namespace
}  // namespace pw
