#pragma once

namespace pw {

// Limits LibTorch and the BLAS behind it to `threads` threads in this process. LibTorch's own call
// does not reach an OpenBLAS with threads of its own, which then uses every core.
void set_torch_threads(int threads);

}  // namespace pw
