#include "pw/operator_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/compare/comparison_fixture.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr char kPredicted[] =
    "seq,dim,hardware,predicted_duration_us\n"
    "1,4096,NVIDIA H20,5.5\n"    // measured 5: +10 %
    "16.0,4096,NVIDIA H20,60\n"  // measured 80: -25 %
    "64,4096,A100,150\n"         // measured 100: +50 %
    "128,4096,A100,nan\n"
    "256,4096,A100,900\n";
constexpr char kMeasured[] =
    "hardware,dim,seq,avg_duration\n"
    "H20,4096,1,5\n"
    "H20,4096,16,80\n"
    "NVIDIA A100-SXM4-80GB,4096,64,100\n"
    "NVIDIA A100-SXM4-80GB,4096,128,100\n"
    "NVIDIA A100-SXM4-80GB,4096,256,0\n"
    "NVIDIA A100-SXM4-80GB,4096,512,100\n";

OperatorErrors errors_of(const std::string& predicted, const std::string& measured) {
  const TemporaryFolder folder;
  return compare_operators(folder.file("out.csv", predicted), folder.file("data.csv", measured),
                           shipped_catalog());
}

TEST(OperatorErrors, JoinsRowsByProblemAndGpu) {
  const OperatorErrors errors = errors_of(kPredicted, kMeasured);
  EXPECT_EQ(errors.rows, 6u);
  EXPECT_EQ(errors.compared, 3u);
  EXPECT_THAT(errors.left_out, ElementsAre(Pair("measured duration is no number above 0", 1),
                                           Pair("no prediction of this problem", 1),
                                           Pair("predicted duration is no number above 0", 1)));
  ASSERT_EQ(errors.groups.size(), 6u);
  const OperatorErrorGroup& all = errors.groups[0];
  EXPECT_NEAR(all.mean, 85.0 / 3, 1e-9);
  EXPECT_NEAR(all.median, 25, 1e-9);
  EXPECT_NEAR(all.p95, 47.5, 1e-9);
  EXPECT_NEAR(all.bias, 35.0 / 3, 1e-9);
  EXPECT_EQ(all.under_10, 0);
  EXPECT_NEAR(all.under_20, 100.0 / 3, 1e-9);
  EXPECT_NEAR(all.under_50, 200.0 / 3, 1e-9);
  EXPECT_EQ(errors.groups[1].group, "NVIDIA A100-SXM4-80GB");
  EXPECT_EQ(errors.groups[2].group, "NVIDIA H20");
  EXPECT_EQ(errors.groups[2].n, 2u);
  EXPECT_EQ(errors.groups[3].group, "1-10 us");
  EXPECT_EQ(errors.groups[4].group, "10-100 us");
  EXPECT_EQ(errors.groups[5].group, "100-1000 us");
  EXPECT_THAT(operator_errors_text(errors), HasSubstr("3 of 6 measured rows"));
  EXPECT_THAT(operator_errors_csv(errors), HasSubstr("\nsize,10-100 us,1,25.0,25.0,25.0,-25.0,"));
}

TEST(OperatorErrors, OneFileMayHoldBoth) {
  const TemporaryFolder folder;
  const auto path = folder.file(
      "both.csv", "seq,dim,avg_duration,predicted_duration_us\n1,2,10,11\n1,2,10,9\n1,2,,9\n");
  const OperatorErrors errors = compare_operators(path, std::nullopt, shipped_catalog());
  EXPECT_EQ(errors.compared, 2u);
  EXPECT_NEAR(errors.groups[0].mean, 10, 1e-9);
  EXPECT_NEAR(errors.groups[0].bias, 0, 1e-9);
}

TEST(OperatorErrors, RefusesFilesThatDoNotFit) {
  struct Bad {
    const char* predicted;
    const char* measured;
    const char* message;
  };
  const Bad cases[] = {
      {"seq,dim\n1,2\n", kMeasured, "predicted_duration_us"},
      {kPredicted, "seq,dim,hardware\n1,2,H20\n", "avg_duration"},
      {"M,N,K,predicted_duration_us\n1,2,3,4\n", kMeasured, "do not both have the problem columns"},
      {kPredicted, "seq,dim,avg_duration\n1,4096,3\n", "has no column hardware"},
      {"seq,dim,hardware,predicted_duration_us\n1,2,H20,4\n1,2,NVIDIA H20,5\n", kMeasured,
       ":3: column 'predicted_duration_us' is '5', but an earlier line"},
      {"seq,dim,hardware,predicted_duration_us\n1,2,H20,4\n", kMeasured, "no row has both"},
  };
  for (const Bad& bad : cases) {
    EXPECT_THAT(error_of([&] { errors_of(bad.predicted, bad.measured); }), HasSubstr(bad.message));
  }
}

}  // namespace
}  // namespace pw
