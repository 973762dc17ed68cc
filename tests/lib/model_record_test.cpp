#include "pw/model_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/json_file.h"
#include "support/error_of.h"

namespace pw {
namespace {

using testing::AllOf;
using testing::HasSubstr;

ModelRecord sample() {
  ModelRecord record;
  record.operator_name = "gemm";
  record.features = {"tensor_all_ops", "global_cycle"};
  record.analysis = {Fa2Schedule::faithful, GemmTilePolicy::fixed_128};
  record.feature_ranges = {{1, 2.5, 1.25, 0.5}, {0.1, 1e16, 3, 4}};
  record.hardware_rows = {{"NVIDIA H100", 7}, {"NVIDIA A40", 3}};
  record.data = {{"b.csv", "abc", 8, "own measurements", "ms"}, {"a.csv", "", 2, ""}};
  record.training = {{"seed", "42"}, {"epochs", "3"}};
  Metrics metrics;
  metrics.rows = 4;
  metrics.mae = 0.1;
  metrics.median_relative_error = 0.3;
  metrics.max_relative_error = 2;
  metrics.accuracy_20_percent = 75;
  record.metrics = {{"validation", metrics}};
  metrics.r2 = -0.5;
  metrics.duration_bias = -0.25;
  record.metrics.emplace_back("test: NVIDIA H100", metrics);
  return record;
}

TEST(ModelRecord, SurvivesItsJson) {
  const std::string json = record_json(sample());
  const ModelRecord read = parse_record(json, "m.pt");
  EXPECT_EQ(record_json(read), json);
  EXPECT_EQ(read.features, sample().features);
  EXPECT_EQ(read.analysis.fa2_schedule, Fa2Schedule::faithful);
  EXPECT_EQ(read.analysis.gemm_tile, GemmTilePolicy::fixed_128);
  EXPECT_EQ(read.feature_ranges[1].max, 1e16);
  EXPECT_EQ(read.hardware_rows, sample().hardware_rows);
  EXPECT_EQ(read.data[0].source, "own measurements");
  EXPECT_EQ(read.data[0].duration_unit, "ms");
  EXPECT_EQ(read.data[1].sha256, "");
  EXPECT_EQ(read.data[1].duration_unit, "");
  EXPECT_EQ(read.training, sample().training);
  EXPECT_FALSE(read.metrics[0].second.r2.has_value());
  EXPECT_EQ(read.metrics[1].second.r2, -0.5);
  EXPECT_EQ(read.metrics[1].second.duration_bias, -0.25);
  EXPECT_FALSE(read.metrics[1].second.duration_mean_relative_error.has_value());
  EXPECT_EQ(read.metrics[1].second.accuracy_20_percent, 75);
}

TEST(ModelRecord, HoldsTheQuantilesOfAQuantileModel) {
  EXPECT_FALSE(parse_record(record_json(sample()), "m.pt").output_quantile.has_value());
  ModelRecord record = sample();
  record.quantiles = {0.5, 0.8};
  record.output_quantile = 0.8;
  record.coverage = {{"held out", {100, {0.49, 0.81}}}};
  const std::string json = record_json(record);
  const ModelRecord read = parse_record(json, "m.pt");
  EXPECT_EQ(record_json(read), json);
  EXPECT_EQ(read.quantiles, record.quantiles);
  EXPECT_EQ(read.output_quantile, 0.8);
  EXPECT_EQ(read.coverage[0].second.shares[1], 0.81);

  const auto error_with = [&](const char* member, const Json& value) {
    Json changed = parse_json(json, "m.pt");
    changed[member] = value;
    return error_of([&] { parse_record(to_json_text(changed), "m.pt"); });
  };
  EXPECT_THAT(error_with("output_quantile", 0.9), HasSubstr("expected one of the quantiles"));
  EXPECT_THAT(error_with("quantiles", {0.8}), HasSubstr("expected one for each of the 1"));
  EXPECT_THAT(error_with("quantiles", {"high"}), HasSubstr("expected numbers"));
}

TEST(ModelRecord, HoldsHeldOutErrors) {
  EXPECT_FALSE(parse_record(record_json(sample()), "m.pt").known_gpu_errors);
  ModelRecord record = sample();
  record.new_gpu_errors =
      HeldOutErrors{"GPU", {90, -0.5, 0.125, 0.75, 0.7}, {{"NVIDIA A40", {45, -1, 0, 1, {}}}}};
  const std::string json = record_json(record);
  const ModelRecord read = parse_record(json, "m.pt");
  EXPECT_EQ(record_json(read), json);
  EXPECT_FALSE(read.known_gpu_errors);
  EXPECT_EQ(read.new_gpu_errors->held_out, "GPU");
  EXPECT_EQ(read.new_gpu_errors->all.coverage, 0.7);
  EXPECT_EQ(read.new_gpu_errors->of("NVIDIA A40").p90, 1);

  Json changed = parse_json(json, "m.pt");
  changed["new_gpu_errors"]["gpus"]["NVIDIA A40"]["p10"] = 2;
  EXPECT_THAT(error_of([&] { parse_record(to_json_text(changed), "m.pt"); }),
              AllOf(HasSubstr("m.pt: new_gpu_errors.gpus[\"NVIDIA A40\"]"),
                    HasSubstr("expected numbers that rise")));
}

TEST(ModelRecord, TellsOperandCopies) {
  ModelRecord record = sample();
  record.kind = ModelKind::log_ratio;
  for (const std::optional<double>& copies : {std::optional(6.0), std::optional<double>()}) {
    record.operand_copies = copies;
    EXPECT_EQ(parse_record(record_json(record), "m.pt").operand_copies, copies);
  }
}

// Before records told the copies, attention and fp8 GEMM always had one.
TEST(ModelRecord, KnowsTheCopiesOfOlderRecords) {
  const auto copies_of = [](const char* family, const char* kind) {
    Json json = Json::parse(record_json(sample()));
    json["operator"] = family;
    json["kind"] = kind;
    json["format_version"] = 1;
    json.erase("operand_copies");
    return parse_record(json.dump(), "m.pt").operand_copies;
  };
  EXPECT_EQ(copies_of("attn", "log_ratio"), 1.0);
  EXPECT_EQ(copies_of("gemm_fp8", "log_ratio"), 1.0);
  EXPECT_EQ(copies_of("gemm", "log_ratio"), std::nullopt);
  EXPECT_EQ(copies_of("attn", "efficiency"), std::nullopt);
}

TEST(ModelRecord, KeepsUnknownRangesUnknown) {
  ModelRecord record = sample();
  record.feature_ranges.clear();
  EXPECT_TRUE(parse_record(record_json(record), "m.pt").feature_ranges.empty());
}

TEST(ModelRecord, RefusesWhatItCannotTrust) {
  struct Case {
    const char* member;
    Json value;
    const char* message;
  };
  const Case cases[] = {
      {"format_version", ModelRecord::kFormatVersion + 1, "use the newer program"},
      {"format_version", 0, "format_version"},
      {"operator", 3, "operator"},
      {"features", {1, 2}, "features"},
      {"analysis", {{"fa2_schedule", "other"}, {"gemm_tile", "selected"}}, "other"},
      {"feature_ranges", {{"tensor_all_ops", {{"min", 1}}}}, "max"},
      {"hardware_rows", {{"NVIDIA H100", "many"}}, "NVIDIA H100"},
      {"training", {{"seed", 42}}, "seed"},
      {"metrics", {{"validation", {{"rows", 1}}}}, "mae"},
  };
  for (const Case& c : cases) {
    Json json = parse_json(record_json(sample()), "sample");
    json[c.member] = c.value;
    const std::string error = error_of([&] { parse_record(json.dump(), "m.pt"); });
    EXPECT_THAT(error, HasSubstr("m.pt")) << c.member;
    EXPECT_THAT(error, HasSubstr(c.message)) << c.member;
    json.erase(c.member);
    EXPECT_THAT(error_of([&] { parse_record(json.dump(), "m.pt"); }), HasSubstr(c.member));
  }
}

TEST(RecordFeatures, FollowTheRecordsOrder) {
  ModelRecord record = sample();
  std::swap(record.features[0], record.features[1]);
  const std::vector<std::string> names =
      feature_names(operator_family(record.operator_name), record.kind);
  const std::vector<std::size_t> columns = feature_columns(record, "m.pt");
  ASSERT_EQ(columns.size(), 2u);
  EXPECT_EQ(names[columns[0]], record.features[0]);
  EXPECT_EQ(names[columns[1]], record.features[1]);
  EXPECT_GT(columns[0], columns[1]);
}

TEST(RecordFeatures, MustBelongToTheOperator) {
  ModelRecord record = sample();
  record.features = {"tensor_all_ops", "xu_all_ops"};
  EXPECT_THAT(error_of([&] { feature_columns(record, "m.pt"); }),
              HasSubstr("m.pt: the model uses the feature 'xu_all_ops', which efficiency models of "
                        "operator gemm"));
  record.features.clear();
  EXPECT_THAT(error_of([&] { feature_columns(record, "m.pt"); }), HasSubstr("no feature"));
  record.operator_name = "convolution";
  EXPECT_THAT(error_of([&] { feature_columns(record, "m.pt"); }), HasSubstr("convolution"));
}

}  // namespace
}  // namespace pw
