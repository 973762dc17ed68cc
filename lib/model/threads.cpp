#include "model/threads.h"

#include <dlfcn.h>
#include <torch/torch.h>

namespace pw {

void set_torch_threads(int threads) {
  at::set_num_threads(threads);
  // Only some builds of LibTorch bring OpenBLAS, so it is looked up instead of linked.
  if (void* symbol = dlsym(RTLD_DEFAULT, "openblas_set_num_threads")) {
    reinterpret_cast<void (*)(int)>(symbol)(threads);
  }
}

}  // namespace pw
