#include "profile/torch/device.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/cuda.h>

#include "model/threads.h"
#include "profile/torch/kernels.h"
#include "profile/torch_device.h"
#include "pw/fields.h"

namespace pw {
namespace {

using Clock = std::chrono::steady_clock;

// Cold operands fill the last cache this many times: enough that a model's weights, which never are
// in it, lie within the range of the ratio feature `hot` (up to ln(e^2)).
constexpr double kColdCaches = 8;
constexpr std::int64_t kMostSets = 4096;
constexpr double kUsableShare = 0.8;                    // of free memory, for operands
constexpr std::int64_t kRandomNumbers = (1 << 22) - 3;  // distinct ones in a pool
constexpr std::int64_t kAlignment = 64;                 // elements

double us_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

}  // namespace

at::Tensor OperandPool::take(std::int64_t elements, std::int64_t free_bytes) {
  if (!values_.defined() || values_.numel() < elements) {
    const std::int64_t held = values_.defined() ? values_.numel() * element_bytes() : 0;
    const std::int64_t needed = elements * element_bytes();
    if (static_cast<double>(needed) > kUsableShare * static_cast<double>(free_bytes + held)) {
      throw DoesNotFit("its operands need " + std::to_string(needed) + " bytes, " +
                       std::to_string(free_bytes + held) + " are free");
    }
    values_ = at::Tensor();  // before the new ones are allocated
    const at::Tensor random =
        at::randn({kRandomNumbers}, at::TensorOptions().device(device_)).to(dtype_);
    values_ = at::empty({elements}, at::TensorOptions().device(device_).dtype(dtype_));
    for (std::int64_t begin = 0; begin < elements; begin += kRandomNumbers) {
      const std::int64_t count = std::min(kRandomNumbers, elements - begin);
      values_.narrow(0, begin, count).copy_(random.narrow(0, 0, count));
    }
  }
  return values_.narrow(0, 0, elements);
}

TorchDevice::TorchDevice(at::Device device, DeviceInfo info)
    : device_(device),
      dtype_(device.is_cuda() ? at::kBFloat16 : at::kFloat),
      info_(std::move(info)) {}

std::string TorchDevice::library() const { return library_name(); }
std::string TorchDevice::library_build() const { return at::show_config(); }
std::string TorchDevice::dtype() const { return dtype_ == at::kBFloat16 ? "bfloat16" : "float32"; }

void TorchDevice::synchronize() const {
  if (device_.is_cuda()) {
    torch::cuda::synchronize();
  }
}

double TorchDevice::timed_us(std::int64_t calls, const std::function<void(std::int64_t)>& call) {
  if (device_.is_cuda()) {
    return timed_by_events_us(calls, call);
  }
  const auto start = Clock::now();
  for (std::int64_t i = 0; i < calls; ++i) {
    call(i);
  }
  return us_since(start);
}

#if PW_TORCH_AT_LEAST(2, 5)

// Occupies the device for about that long.
void TorchDevice::keep_busy(double us) {
  constexpr std::int64_t kWidth = 2048;
  const auto work = [&] { matrix_product(busy_operand_, busy_operand_); };
  if (!busy_operand_.defined()) {
    busy_operand_ = at::randn({kWidth, kWidth}, options());
    work();
    synchronize();
    constexpr int kCalls = 50;
    const auto start = Clock::now();
    for (int i = 0; i < kCalls; ++i) {
      work();
    }
    synchronize();
    busy_us_ = us_since(start) / kCalls;
  }
  for (double spent = 0; spent < us; spent += busy_us_) {
    work();
  }
}

// The host needs about as long to launch a short kernel as the device to run it. Behind other work
// the calls queue up, and the device runs them without waiting, as in a CUDA graph of an engine.
double TorchDevice::timed_by_events_us(std::int64_t calls,
                                       const std::function<void(std::int64_t)>& call) {
  const c10::Stream stream = c10::impl::VirtualGuardImpl(device_.type()).getStream(device_);
  c10::Event start(device_.type(), c10::EventFlag::BACKEND_DEFAULT);
  c10::Event end(device_.type(), c10::EventFlag::BACKEND_DEFAULT);
  keep_busy(1.5 * host_us_per_call_ * static_cast<double>(calls + 1));
  call(-1);  // not timed: what the other work has put into the caches goes
  start.record(stream);
  const auto host_start = Clock::now();
  for (std::int64_t i = 0; i < calls; ++i) {
    call(i);
  }
  host_us_per_call_ = us_since(host_start) / static_cast<double>(calls);
  end.record(stream);
  synchronize();
  return 1e3 * start.elapsedTime(end);
}

#else

void TorchDevice::keep_busy(double) {}

double TorchDevice::timed_by_events_us(std::int64_t, const std::function<void(std::int64_t)>&) {
  throw DataError(library() + " has no device events: a GPU needs LibTorch 2.5 or newer");
}

#endif

std::vector<at::Tensor> TorchDevice::operand_sets(std::int64_t elements, at::ScalarType dtype,
                                                  Operands operands) {
  OperandPool& pool = pools_.try_emplace(dtype, device_, dtype).first->second;
  const std::int64_t stride = (elements + kAlignment - 1) / kAlignment * kAlignment;
  std::int64_t sets = 1;
  if (operands == Operands::cold) {
    const double caches = kColdCaches * static_cast<double>(info_.cache_bytes);
    const double wanted = std::ceil(caches / static_cast<double>(stride * pool.element_bytes()));
    sets = static_cast<std::int64_t>(std::clamp(wanted, 2.0, static_cast<double>(kMostSets)));
  }
  const at::Tensor values = pool.take(stride * sets, state().free_bytes);
  std::vector<at::Tensor> parts;
  for (std::int64_t set = 0; set < sets; ++set) {
    parts.push_back(values.narrow(0, set * stride, elements));
  }
  return parts;
}

std::unique_ptr<ProfiledDevice> open_torch_device(const std::string& device, std::int64_t threads) {
  if (device == "cpu") {
    keep_freed_memory();  // as a GPU's caching allocator does: kernels are timed, not page faults
    DeviceInfo info = cpu_info(threads);
    set_torch_threads(static_cast<int>(info.cores));
    return std::make_unique<TorchDevice>(at::Device(at::kCPU), std::move(info));
  }
  if (device != "cuda") {
    throw DataError("device '" + device + "', expected cpu or cuda");
  }
  if (!torch::cuda::is_available()) {
    throw DataError(library_name() +
                    " finds no CUDA here: choose the device cpu, or build with a LibTorch for CUDA "
                    "on a machine with an NVIDIA GPU");
  }
  return std::make_unique<TorchDevice>(at::Device(at::kCUDA, 0), gpu_info());
}

}  // namespace pw
