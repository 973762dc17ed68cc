#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include <ATen/ATen.h>

#include "pw/profiling.h"

namespace pw {

// Random numbers on a device, of which operands are parts: made once, larger as needed. Filling
// fresh operands for each problem would take longer than measuring them.
class OperandPool {
 public:
  OperandPool(at::Device device, at::ScalarType dtype) : device_(device), dtype_(dtype) {}

  std::int64_t element_bytes() const { return static_cast<std::int64_t>(at::elementSize(dtype_)); }
  // The first `elements` random numbers; `free_bytes` is what the device has left. Throws
  // DoesNotFit.
  at::Tensor take(std::int64_t elements, std::int64_t free_bytes);

 private:
  at::Device device_;
  at::ScalarType dtype_;
  at::Tensor values_;
};

// LibTorch on one device.
class TorchDevice : public ProfiledDevice {
 public:
  TorchDevice(at::Device device, DeviceInfo info);

  const DeviceInfo& info() const override { return info_; }
  std::string library() const override;
  std::string library_build() const override;
  std::string dtype() const override;
  std::string refusal(std::string_view family) const override;
  std::unique_ptr<ProfiledKernel> prepare(const OperatorConfig& config, Operands operands) override;

  at::Device device() const { return device_; }
  at::ScalarType scalar_type() const { return dtype_; }
  at::TensorOptions options() const { return at::TensorOptions().device(device_).dtype(dtype_); }

  // Runs `call(i)` for i in [0, calls), on a GPU also call(-1) before, and waits; the us that the
  // device takes, without launching as far as it works faster than the host.
  double timed_us(std::int64_t calls, const std::function<void(std::int64_t)>& call);
  void synchronize() const;

  // As many sets of `elements` random numbers as a state of operands needs.
  std::vector<at::Tensor> operand_sets(std::int64_t elements, at::ScalarType dtype,
                                       Operands operands);

 private:
  double timed_by_events_us(std::int64_t calls, const std::function<void(std::int64_t)>& call);
  void keep_busy(double us);

  at::Device device_;
  at::ScalarType dtype_;
  DeviceInfo info_;
  std::map<at::ScalarType, OperandPool> pools_;
  at::Tensor busy_operand_;
  double busy_us_ = 0;           // of one product of it with itself
  double host_us_per_call_ = 0;  // of the last calls
};

}  // namespace pw
