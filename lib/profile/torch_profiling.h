#pragma once

#include "profile/torch_device.h"
#include "profile/torch_transformer.h"

namespace pw {

// The functions of pw_torch and pw_profile that pw-profile calls, each as its header says.
struct TorchProfiling {
  decltype(pw::open_torch_device)* open_device;
  decltype(pw::measure_rates)* measure_rates;
  decltype(Transformer::make)* make_transformer;
};

}  // namespace pw
