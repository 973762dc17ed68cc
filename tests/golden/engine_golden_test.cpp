// The kernels between the large ones against the parts of the recipe's reference run, which had 1
// ms of host time.

#include <cmath>

#include <gtest/gtest.h>

#include "io/csv_table.h"
#include "pw/engine_profile.h"
#include "pw/hardware_catalog.h"
#include "pw/prediction.h"
#include "support/reference.h"

namespace pw {
namespace {

EngineProfile reference_engine() {
  EngineProfile engine;
  engine.name = "reference";
  engine.host_us_per_iteration = 1000;
  return engine;
}

double engine_ms(const Workload& workload, const Step& iteration, const HardwareSpec& hardware) {
  double us = 0;
  for (const EngineOperator& extra :
       engine_operators(workload.model, iteration, hardware, reference_engine())) {
    us += extra.single_us * static_cast<double>(extra.count);
  }
  return us / 1000;
}

TEST(EngineGolden, ExtraKernelsAndHostOfEveryCase) {
  PW_REFERENCE_OR_SKIP(reference);
  const HardwareCatalog catalog = HardwareCatalog::read(shipped("hardware"));
  const CsvTable csv = CsvTable::read(reference / "golden/recipe_e2e_parts.csv");
  std::size_t compared = 0;
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    const CsvRow fields(csv, row);
    const std::string name = fields.text("case");
    const std::size_t end = name.find('_', name.rfind("_pp") + 1);
    const Workload workload =
        read_workload(reference / "workload" / (name.substr(0, end) + ".json"));
    const HardwareSpec& hardware = catalog.get(name.substr(end + 1));
    // The prefill row is iteration 1, the decode row iteration 2.
    const Step& iteration = workload.steps[fields.text("phase") == "prefill" ? 0 : 1];
    EXPECT_NEAR(engine_ms(workload, iteration, hardware), fields.number("extra_and_host_ms"), 1e-6)
        << name << ' ' << fields.text("phase");
    ++compared;
  }
  EXPECT_EQ(compared, 88u);
}

}  // namespace
}  // namespace pw
