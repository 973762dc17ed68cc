#include "pw/cross_validation.h"

#include <algorithm>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error_of.h"
#include "support/synthetic_gemm.h"

namespace pw {
namespace {

using testing::HasSubstr;

using Groups = std::set<std::uint64_t>;

Groups groups_of(const std::vector<std::uint64_t>& group_of_row,
                 const std::vector<std::int64_t>& rows) {
  Groups groups;
  for (const std::int64_t row : rows) {
    groups.insert(group_of_row[static_cast<std::size_t>(row)]);
  }
  return groups;
}

bool disjoint(const Groups& a, const Groups& b) {
  return std::none_of(a.begin(), a.end(), [&](std::uint64_t group) { return b.count(group) > 0; });
}

// Shapes in 12 coarse groups, each measured twice on both GPUs.
Dataset grouped_data() {
  Dataset data = synthetic_data(120);
  for (std::size_t row = 0; row < data.rows(); ++row) {
    const std::uint64_t shape = data.problem[row] / 2;
    data.hold_out_group.push_back(shape % 12);
    data.problem[row] = shape / 24 * 24 + shape % 12 + 1000 * data.hardware[row];
  }
  return data;
}

TEST(Folds, HoldEachGroupOutOnceAndLeakNothing) {
  const Dataset data = grouped_data();
  const std::vector<Fold> folds = group_folds(data.hold_out_group, 5, 42);
  ASSERT_EQ(folds.size(), 5u);
  std::map<std::int64_t, int> held_out;
  for (const Fold& fold : folds) {
    EXPECT_EQ(fold.training.size() + fold.unseen.size(), data.rows());
    EXPECT_GE(fold.unseen.size(), 40u);
    EXPECT_TRUE(disjoint(groups_of(data.hold_out_group, fold.training),
                         groups_of(data.hold_out_group, fold.unseen)));
    for (const std::int64_t row : fold.unseen) {
      ++held_out[row];
    }
  }
  EXPECT_EQ(held_out.size(), data.rows());
  EXPECT_TRUE(std::all_of(held_out.begin(), held_out.end(),
                          [](const auto& count) { return count.second == 1; }));
  EXPECT_EQ(folds[0].unseen, group_folds(data.hold_out_group, 5, 42)[0].unseen);
  EXPECT_NE(folds[0].unseen, group_folds(data.hold_out_group, 5, 43)[0].unseen);
  EXPECT_THAT(error_of([&] { group_folds(data.hold_out_group, 13, 42); }),
              HasSubstr("12 different groups"));
}

TEST(Folds, SeenRowsAreOtherProblemsOfSeenGroups) {
  const Dataset data = grouped_data();
  std::vector<Fold> folds = group_folds(data.hold_out_group, 3, 42);
  keep_seen_rows(data, 0.2, 42, folds);
  for (const Fold& fold : folds) {
    EXPECT_EQ(fold.training.size() + fold.unseen.size() + fold.seen.size(), data.rows());
    EXPECT_GE(fold.seen.size(), 30u);
    const Groups fitted = groups_of(data.problem, fold.training);
    EXPECT_TRUE(disjoint(fitted, groups_of(data.problem, fold.seen)));
    EXPECT_TRUE(disjoint(fitted, groups_of(data.problem, fold.unseen)));
    EXPECT_TRUE(disjoint(groups_of(data.hold_out_group, fold.seen),
                         groups_of(data.hold_out_group, fold.unseen)));
  }
}

TEST(Folds, LeaveOneGpuOut) {
  Dataset data = grouped_data();
  const std::vector<Fold> folds = gpu_folds(data);
  ASSERT_EQ(folds.size(), 2u);
  for (std::size_t gpu = 0; gpu < 2; ++gpu) {
    for (const std::int64_t row : folds[gpu].unseen) {
      EXPECT_EQ(data.hardware[static_cast<std::size_t>(row)], gpu);
    }
    EXPECT_EQ(folds[gpu].unseen.size(), 120u);
    EXPECT_EQ(folds[gpu].training, folds[1 - gpu].unseen);
  }
  data.hardware_names.resize(1);
  EXPECT_THAT(error_of([&] { gpu_folds(data); }), HasSubstr("at least two GPUs"));
}

// The duration of a group cannot be known from other groups. If any of its rows were in the
// training, the error would be small.
TEST(CrossValidation, PredictsWithoutHavingSeenTheRows) {
  Dataset data = synthetic_data(80, 0, ModelKind::log_ratio);
  for (std::size_t row = 0; row < data.rows(); ++row) {
    data.problem[row] = data.hardware[row];  // two groups
    const double factor = data.hardware[row] == 0 ? 1 : 20;
    data.duration_us[row] *= factor;
    data.efficiency[row] /= factor;
  }
  RatioOptions options;
  options.epochs = 10;
  options.batch_size = 32;
  options.members = 1;
  options.hidden_widths = {16};
  const auto metrics = [&] {
    return cross_validate(data, group_folds(data.problem, 2, 42), options, {}).metrics;
  };
  const LabelledMetrics table = metrics();
  ASSERT_EQ(table.size(), 3u);
  EXPECT_EQ(table[0].first, "unseen");
  EXPECT_EQ(table[0].second.rows, 160);
  EXPECT_EQ(table[1].first, "unseen: " + data.hardware_names[0]);
  EXPECT_GT(table[1].second.duration_median_relative_error.value(), 5);
  EXPECT_GT(table[2].second.duration_median_relative_error.value(), 0.8);
  EXPECT_LT(table[2].second.duration_bias.value(), -0.8);
  EXPECT_EQ(metrics()[0].second.mae, table[0].second.mae);
}

TEST(CrossValidation, BothPresetsTellSeenFromUnseen) {
  Dataset data = synthetic_data(150);
  std::vector<Fold> folds = gpu_folds(data);
  keep_seen_rows(data, 0.2, 42, folds);
  MlpOptions options;
  options.epochs = 3;
  options.batch_size = 32;
  std::int64_t epochs = 0;
  const LabelledMetrics table =
      cross_validate(data, folds, options, [&](const EpochReport& report) {
        epochs = report.epochs;
      }).metrics;
  EXPECT_EQ(epochs, 6);
  ASSERT_EQ(table.size(), 6u);
  EXPECT_EQ(table[0].first, "seen");
  EXPECT_EQ(table[3].first, "unseen");
  EXPECT_EQ(table[3].second.rows, 300);
  EXPECT_EQ(table[0].second.rows, 60);
}

}  // namespace
}  // namespace pw
