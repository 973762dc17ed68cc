// GPU specifications; one that is taken can be computed with.
#include <cmath>

#include "fuzz_input.h"
#include "pw/operators.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pw;
  static const fuzz::InputFile input("gpu.json");
  fuzz::takes([&] {
    const HardwareSpec gpu = read_hardware(input.write(fuzz::as_text(data, size)));
    const std::pair<double, const char*> rates[] = {
        {static_cast<double>(gpu.num_sms), "SMs"},
        {gpu.sm_freq_mhz, "clock"},
        {gpu.tensor_bf16_ops_per_cycle_sm, "tensor rate"},
        {gpu.memory_bandwidth, "memory bandwidth"},
        {gpu.l2_bandwidth, "L2 bandwidth"},
        {gpu.shared_bytes_per_cycle_sm, "shared memory bandwidth"},
        {gpu.sustained_tensor_fraction.value_or(1), "sustained tensor rate"},
        {gpu.sustained_dram_fraction.value_or(1), "sustained DRAM rate"}};
    for (const auto& [rate, name] : rates) fuzz::require(std::isfinite(rate) && rate > 0, name);
    fuzz::takes([&] { operator_ratios(GemmConfig{}, gpu); });
  });
  return 0;
}
