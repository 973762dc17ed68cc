#pragma once

namespace pw {

// Limits LibTorch and the BLAS behind it to `threads` threads in this process. LibTorch's own call
// does not reach an OpenBLAS with threads of its own, which then uses every core.
void set_torch_threads(int threads);

// From now on memory that is freed stays with the process: every batch needs the same again, and
// what the system takes back it hands out page by page.
void keep_freed_memory();

}  // namespace pw
