#include "model/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error_of.h"

namespace pw {
namespace {

TEST(Device, KnowsItsNames) {
  for (const Device device : {Device::cpu, Device::cuda}) {
    EXPECT_EQ(parse_device(to_string(device)), device);
  }
  EXPECT_THAT(error_of([] { parse_device("gpu"); }), testing::HasSubstr("expected cpu or cuda"));
}

TEST(Device, CudaIsRefusedWhereThereIsNone) {
  EXPECT_EQ(torch_device(Device::cpu), torch::Device(torch::kCPU));
  if (torch::cuda::is_available()) {
    GTEST_SKIP() << "this machine has CUDA";
  }
  EXPECT_THAT(error_of([] { torch_device(Device::cuda); }), testing::HasSubstr("no CUDA"));
}

}  // namespace
}  // namespace pw
