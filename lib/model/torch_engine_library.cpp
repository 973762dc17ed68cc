// The library that programs without LibTorch load when they need it: torch_engine.h.

#include "model/load_network.h"
#include "torch_engine.h"

extern "C" __attribute__((visibility("default"))) const pw::TorchEngine pw_torch_engine;
const pw::TorchEngine pw_torch_engine = {PW_VERSION, pw::load_network};
