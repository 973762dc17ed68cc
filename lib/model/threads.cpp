#include "model/threads.h"

#include <dlfcn.h>
#include <malloc.h>
#include <torch/torch.h>

namespace pw {

void set_torch_threads(int threads) {
  at::set_num_threads(threads);
  // Only some builds of LibTorch bring OpenBLAS, so it is looked up instead of linked.
  if (void* symbol = dlsym(RTLD_DEFAULT, "openblas_set_num_threads")) {
    reinterpret_cast<void (*)(int)>(symbol)(threads);
  }
}

void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the most that it takes
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

}  // namespace pw
