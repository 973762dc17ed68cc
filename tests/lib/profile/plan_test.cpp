#include <algorithm>
#include <numeric>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pw/data_paths.h"
#include "pw/profile_plan.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> families(const ProfilePlan& plan) {
  std::vector<std::string> names;
  for (const OperatorConfig& config : plan) {
    names.emplace_back(operator_family(config).name);
  }
  return names;
}

class ProfilePlanTest : public testing::Test {
 protected:
  ProfilePlan read(const std::string& json, const std::vector<std::string>& operators = {}) const {
    return read_profile_plan(folder_.file("plan.json", json), operators);
  }
  const TemporaryFolder folder_;
};

TEST(SpaceFillingOrder, MeetsEveryPointOnce) {
  for (const std::vector<std::size_t>& extents :
       {std::vector<std::size_t>{1}, {7}, {4, 5}, {2, 3, 4, 5}, {1, 9, 1}}) {
    std::vector<std::size_t> order = space_filling_order(extents);
    std::vector<std::size_t> all(order.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    EXPECT_EQ(order.size(),
              std::accumulate(extents.begin(), extents.end(), std::size_t{1}, std::multiplies<>()));
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, all);
  }
}

// What interrupting early leaves: after any number of points each half of each axis has about half
// of them, and each quarter of the plane a quarter.
TEST(SpaceFillingOrder, AnyBeginningIsSpreadEvenly) {
  constexpr std::size_t kRows = 24, kColumns = 40;
  const std::vector<std::size_t> order = space_filling_order({kRows, kColumns});
  for (const std::size_t count : {16u, 40u, 100u, 300u}) {
    std::size_t quarters[2][2] = {};
    for (std::size_t i = 0; i < count; ++i) {
      ++quarters[order[i] / kColumns >= kRows / 2][order[i] % kColumns >= kColumns / 2];
    }
    for (const auto& half : quarters) {
      for (const std::size_t quarter : half) {
        EXPECT_NEAR(static_cast<double>(quarter), static_cast<double>(count) / 4,
                    2 + 0.05 * static_cast<double>(count))
            << count;
      }
    }
  }
}

TEST_F(ProfilePlanTest, GridsArePointsWithinTheirLimits) {
  const ProfilePlan plan =
      read(R"({"gemm": [{"M": [1, 64], "N,K": [[256, 128], [512, 32]], "max_tokens": 32}]})");
  std::set<std::vector<std::string>> cells;
  for (const OperatorConfig& config : plan) {
    cells.insert(problem_cells(config));
  }
  EXPECT_THAT(cells, ElementsAre(ElementsAre("1", "256", "128"), ElementsAre("1", "512", "32")));
}

TEST_F(ProfilePlanTest, AttentionHasRequestsOfOneLength) {
  const ProfilePlan plan = read(
      R"({"attn": [{"attention_type": ["fa2_paged"], "bs": [1, 2, 64], "q_length": [1],
                    "kv_length": [30], "nh,nkv,hd": [[8, 2, 64]], "max_context": 100}]})");
  ASSERT_EQ(plan.size(), 2u);
  for (const OperatorConfig& config : plan) {
    const auto& attention = std::get<AttentionConfig>(config);
    EXPECT_EQ(attention.q_lengths, std::vector<std::int64_t>(attention.q_lengths.size(), 1));
    EXPECT_EQ(attention.kv_lengths.front(), 30);
  }
  EXPECT_THAT(problem_cells(plan[0]).size() + problem_cells(plan[1]).size(), 14u);
  EXPECT_THAT(
      problem_cells(plan[0].index() == 2 && std::get<AttentionConfig>(plan[0]).q_lengths.size() == 2
                        ? plan[0]
                        : plan[1]),
      ElementsAre("fa2_paged", "2", "[1,1]", "[30,30]", "8", "2", "64"));
}

TEST_F(ProfilePlanTest, OperatorsAreEquallyFarAndRepeatedProblemsAreOne) {
  const std::string json =
      R"({"gemm": [{"M": [1, 2, 3, 4, 5, 6], "N": [8], "K": [8]}, {"M": [1], "N": [8], "K": [8]}],
          "rmsnorm": [{"seq": [1, 2, 3], "dim": [8]}]})";
  const std::vector<std::string> names = families(read(json));
  EXPECT_THAT(names, ElementsAre("gemm", "rmsnorm", "gemm", "gemm", "rmsnorm", "gemm", "gemm",
                                 "rmsnorm", "gemm"));
  EXPECT_THAT(families(read(json, {"rmsnorm"})), testing::Each("rmsnorm"));
}

TEST_F(ProfilePlanTest, MistakesAreNamed) {
  const std::pair<std::string, const char*> cases[] = {
      {R"({"gemm": [{"M": [1], "N": [8]}]})", "expected each of M, N, K once"},
      {R"({"gemm": [{"M": [1], "N": [8], "K": [8], "tile": [1]}]})", "has the axes M, N, K, tile"},
      {R"({"gemm": [{"M": [1], "N,K": [[8]]}]})", "expected lists of 2 values"},
      {R"({"gemm": [{"M": 1, "N": [8], "K": [8]}]})", "expected a list of values"},
      {R"({"gemm": [{"M": [0], "N": [8], "K": [8]}]})", "M is 0"},
      {R"({"gemm": [{"M": [9], "N": [8], "K": [8], "max_tokens": 8}]})", "no point within"},
      {R"({"gemm": []})", "is empty"},
      {R"({"gemn": []})", "gemn"},
      {"{}", "at least one operator"},
  };
  for (const auto& [json, expected] : cases) {
    EXPECT_THAT(error_of([&, text = json] { read(text); }), HasSubstr(expected)) << json;
  }
  EXPECT_THAT(error_of([&] { read(R"({"gemm": []})", {"attn"}); }),
              HasSubstr("plans nothing for operator 'attn'"));
}

TEST_F(ProfilePlanTest, PresetsThatShipAreReadAndGrow) {
  std::size_t before = 0;
  for (const char* preset : {"quick", "standard", "full"}) {
    const ProfilePlan plan = read_profile_plan(
        find_data_file(std::filesystem::path("config") / "plans" / (std::string(preset) + ".json")),
        {});
    EXPECT_GT(plan.size(), before);
    before = plan.size();
  }
}

}  // namespace
}  // namespace pw
