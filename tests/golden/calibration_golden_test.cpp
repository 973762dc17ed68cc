#include <gtest/gtest.h>

#include "pw/calibration.h"
#include "pw/data_paths.h"
#include "pw/hardware_catalog.h"
#include "support/reference.h"

namespace pw {
namespace {

constexpr double kPrinted = 1e-5;  // the files hold what pw-train calibrate prints

// hardware/README.md, "Sustained rates": GPUs without GEMM rows beside a relative.
TEST(CalibrationGolden, ShippedRatesFromMoeRowsAreTheirRatiosToRelatives) {
  PW_REFERENCE_OR_SKIP(reference);
  const HardwareCatalog catalog = HardwareCatalog::read(find_data_folder("hardware", {}));
  const MeasuredFile file(reference / "data" / "moe.csv", operator_family("moe"));
  const auto tensor = [&](const char* gpu, const char* relative) {
    const HardwareSpec& known = catalog.get(relative);
    const auto rate =
        relative_tensor_rate(file.rows_of(catalog.get(gpu), catalog), file.rows_of(known, catalog));
    return rate.value().ratio * known.sustained_tensor_fraction.value();
  };
  const auto dram = [&](const char* gpu, const char* relative) {
    const HardwareSpec& known = catalog.get(relative);
    const auto rate =
        relative_dram_rate(file.rows_of(catalog.get(gpu), catalog), file.rows_of(known, catalog));
    return rate.value().ratio * known.sustained_dram_fraction.value();
  };
  const auto shipped_tensor = [&](const char* gpu) {
    return catalog.get(gpu).sustained_tensor_fraction.value();
  };
  const auto shipped_dram = [&](const char* gpu) {
    return catalog.get(gpu).sustained_dram_fraction.value();
  };
  EXPECT_NEAR(shipped_tensor("RTX A6000"), tensor("RTX A6000", "A40"), kPrinted);
  EXPECT_NEAR(shipped_tensor("H800"), tensor("H800", "H100"), kPrinted);
  EXPECT_NEAR(shipped_tensor("L20"), tensor("L20", "H20"), kPrinted);
  EXPECT_NEAR(shipped_tensor("L40"), tensor("L40", "H20"), kPrinted);
  EXPECT_NEAR(shipped_tensor("RTX 6000 Ada"), tensor("RTX 6000 Ada", "L40"), kPrinted);
  EXPECT_NEAR(shipped_dram("RTX A6000"), dram("RTX A6000", "A40"), kPrinted);
  EXPECT_NEAR(shipped_dram("H800"), dram("H800", "H100"), kPrinted);
  EXPECT_NEAR(shipped_dram("H20"), (dram("H20", "H100") + dram("H20", "H200")) / 2, kPrinted);
}

}  // namespace
}  // namespace pw
