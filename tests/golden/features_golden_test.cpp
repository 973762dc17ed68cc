// Features against the outputs of the original's calculators and against published dataset rows.

#include <cmath>

#include <gtest/gtest.h>

#include "io/csv_table.h"
#include "pw/hardware_catalog.h"
#include "pw/operators.h"
#include "pw/ratios.h"
#include "support/reference.h"

namespace pw {
namespace {

constexpr double kTolerance = 1e-9;  // relative; integers must be equal

struct GoldenFile {
  const char* path;  // below the reference folder
  const char* family;
  std::size_t rows;
};

void PrintTo(const GoldenFile& file, std::ostream* out) { *out << file.path; }

bool is_integer(std::string_view cell) { return cell.find_first_of(".eE") == cell.npos; }

void expect_features(const CsvTable& csv, std::size_t row, const OperatorFamily& family,
                     const PipelineFeatures& features) {
  const CsvRow fields(csv, row);
  for (const Feature& feature : *family.features) {
    const double found = feature.of(features);
    const double expected = fields.number(feature.name);
    if (is_integer(csv.cell(row, csv.column(feature.name)))) {
      ASSERT_EQ(found, expected) << fields.where(feature.name);
    } else {
      ASSERT_NEAR(found, expected, kTolerance * std::abs(expected)) << fields.where(feature.name);
    }
  }
}

class FeaturesGolden : public testing::TestWithParam<GoldenFile> {};

TEST_P(FeaturesGolden, EveryRow) {
  PW_REFERENCE_OR_SKIP(reference);
  const HardwareCatalog catalog = HardwareCatalog::read(shipped("hardware"));
  const OperatorFamily& family = operator_family(GetParam().family);
  const CsvTable csv = CsvTable::read(reference / GetParam().path);
  csv.require_no_bad_lines();
  ASSERT_EQ(csv.rows(), GetParam().rows);
  const bool measured = csv.find_column("overall_perf") != CsvTable::npos;
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    const CsvRow fields(csv, row);
    const HardwareSpec& hardware = catalog.get(fields.text("hardware"));
    const PipelineFeatures features = analyze_operator(family.read(fields), hardware);
    expect_features(csv, row, family, features);
    if (measured) {
      const double expected = fields.number("overall_perf");
      ASSERT_NEAR(
          efficiency_of(ideal_cycles<double>(features), fields.number("avg_duration"), hardware),
          expected, kTolerance * expected)
          << fields.where("overall_perf");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Files, FeaturesGolden,
    testing::Values(GoldenFile{"golden/features_gemm.csv", "gemm", 1980},
                    GoldenFile{"golden/features_gemm_fp8.csv", "gemm_fp8", 500},
                    GoldenFile{"golden/features_attn_fa2.csv", "attn", 1650},
                    GoldenFile{"golden/features_attn_fa3.csv", "attn", 1650},
                    GoldenFile{"golden/features_rmsnorm.csv", "rmsnorm", 1474},
                    GoldenFile{"golden/features_siluandmul.csv", "siluandmul", 1551},
                    GoldenFile{"golden/features_moe.csv", "moe", 1870},
                    GoldenFile{"data/published_rows/gemm.csv", "gemm", 388},
                    GoldenFile{"data/published_rows/gemm_fp8.csv", "gemm_fp8", 100},
                    GoldenFile{"data/published_rows/attn.csv", "attn", 236},
                    GoldenFile{"data/published_rows/rmsnorm.csv", "rmsnorm", 117},
                    GoldenFile{"data/published_rows/siluandmul.csv", "siluandmul", 126}),
    [](const auto& instance) {
      std::string name = instance.param.path;
      for (char& c : name) {
        c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
      }
      return name;
    });

// Values that the published description gives for the schedule the original meant to simulate.
TEST(FeaturesGoldenFaithful, BusiestSmOfSevenRows) {
  PW_REFERENCE_OR_SKIP(reference);
  struct Expected {
    std::size_t row;
    double tensor_ops, xu_ops, kib;
  };
  const Expected expected[] = {
      {105, 694222848, 1051904, 5264},  {210, 155713536, 414336, 736},
      {448, 302776320, 375808, 2432},   {581, 112459776, 152832, 480},
      {946, 631504896, 1444608, 2528},  {1246, 452001792, 1029120, 1800},
      {1498, 484442112, 2195968, 3840},
  };
  const HardwareCatalog catalog = HardwareCatalog::read(shipped("hardware"));
  const CsvTable csv = CsvTable::read(reference / "golden/features_attn_fa2.csv");
  for (const Expected& e : expected) {
    const CsvRow fields(csv, e.row);
    const PipelineFeatures f =
        analyze_operator(AttentionConfig::read(fields), catalog.get(fields.text("hardware")),
                         {Fa2Schedule::faithful, GemmTilePolicy::selected});
    EXPECT_EQ(f.tensor.sm_max_ops, e.tensor_ops) << e.row;
    EXPECT_EQ(f.xu.sm_max_ops, e.xu_ops) << e.row;
    EXPECT_EQ(f.memory.sm_max_kib, e.kib) << e.row;
    EXPECT_EQ(f.tensor.all_ops, fields.number("tensor_all_ops")) << e.row;
  }
}

HardwareSpec with_rates(HardwareSpec hardware, const Fields& fields) {
  hardware.sustained_tensor_fraction = fields.number("eta");
  hardware.sustained_dram_fraction = fields.number("beta");
  return hardware;
}

void expect_near(double found, double expected, const std::string& where) {
  ASSERT_NEAR(found, expected, kTolerance * std::max(1.0, std::abs(expected))) << where;
}

void expect_ratios(const RatioFeatures& found, const RatioNames& names, const Fields& fields) {
  expect_near(found.bound_us, fields.number("bound_us"), fields.where("bound_us"));
  ASSERT_EQ(found.values.size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    expect_near(found.values[i], fields.number(names[i]), fields.where(names[i]));
  }
}

TEST(RatioGolden, GemmTileSelectionAndRatios) {
  PW_REFERENCE_OR_SKIP(reference);
  const HardwareCatalog catalog = HardwareCatalog::read(shipped("hardware"));
  const CsvTable csv = CsvTable::read(reference / "golden/recipe_gemm.csv");
  ASSERT_GT(csv.rows(), 100u);
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    const CsvRow fields(csv, row);
    const HardwareSpec hardware = with_rates(catalog.get(fields.text("hardware")), fields);
    GemmConfig gemm = GemmConfig{fields.integer("M"), fields.integer("N"), fields.integer("K")};
    gemm.weight_copies = fields.number("copies");
    const TileSelection tile = select_gemm_tile(gemm.m, gemm.n, gemm.k, hardware);
    ASSERT_EQ(tile.tile_m, fields.integer("tile_M")) << fields.where("tile_M");
    ASSERT_EQ(tile.tile_n, fields.integer("tile_N")) << fields.where("tile_N");
    ASSERT_EQ(tile.split, fields.integer("split")) << fields.where("split");
    expect_near(tile.estimate_us, fields.number("selected_us"), fields.where("selected_us"));
    expect_ratios(ratios(gemm, hardware), ratio_names(&gemm), fields);
  }
}

TEST(RatioGolden, Attention) {
  PW_REFERENCE_OR_SKIP(reference);
  const HardwareCatalog catalog = HardwareCatalog::read(shipped("hardware"));
  const CsvTable csv = CsvTable::read(reference / "golden/recipe_attn.csv");
  ASSERT_GT(csv.rows(), 50u);
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    const CsvRow fields(csv, row);
    AttentionConfig attention;
    attention.q_lengths = fields.integers("q_lengths");
    attention.kv_lengths = fields.integers("kv_lengths");
    attention.query_heads = fields.integer("nh");
    attention.kv_heads = fields.integer("nkv");
    attention.head_dim = fields.integer("hd");
    expect_ratios(ratios(attention, catalog.get(fields.text("hardware"))), ratio_names(&attention),
                  fields);
  }
}

}  // namespace
}  // namespace pw
