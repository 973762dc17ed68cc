#include <string>

#include "pw/trainer.h"

namespace pw {

std::string_view to_string(Device device) { return device == Device::cpu ? "cpu" : "cuda"; }

Device parse_device(std::string_view text) {
  for (const Device device : {Device::cpu, Device::cuda}) {
    if (to_string(device) == text) {
      return device;
    }
  }
  throw DataError("device '" + std::string(text) + "', expected cpu or cuda");
}

}  // namespace pw
