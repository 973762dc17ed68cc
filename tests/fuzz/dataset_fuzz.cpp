// Profiled rows of every family, with both kinds of features; and measured collectives.
#include <algorithm>
#include <cmath>

#include "fuzz_input.h"
#include "pw/collective.h"
#include "pw/dataset.h"

namespace pw {
namespace {

bool all_finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double each) { return std::isfinite(each); });
}

void check(const Dataset& data) {
  fuzz::require(data.rows() > 0, "a dataset has rows");
  fuzz::require(data.features.size() == data.rows() * data.width(), "each row has all features");
  fuzz::require(all_finite(data.features), "features are finite");
  fuzz::require(
      all_finite(data.duration_us) && all_finite(data.reference_us) && all_finite(data.efficiency),
      "durations and targets are finite");
  fuzz::require(std::all_of(data.duration_us.begin(), data.duration_us.end(),
                            [](double us) { return us > 0; }),
                "durations are above 0");
}

}  // namespace
}  // namespace pw

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pw;
  static const fuzz::InputFile input("rows.csv");
  const auto path = input.write(fuzz::as_text(data, size));
  for (const OperatorFamily& family : operator_families()) {
    for (const ModelKind kind : {ModelKind::efficiency, ModelKind::log_ratio}) {
      DatasetOptions options;
      options.kind = kind;
      fuzz::takes([&] { check(read_dataset({path}, family, fuzz::catalog(), options)); });
    }
  }
  fuzz::takes([&] { fit_curve(read_collective_samples(path, "all_reduce")); });
  fuzz::takes([&] { read_collective_table(path); });
  return 0;
}
