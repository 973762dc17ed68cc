#pragma once

#include <string>
#include <vector>

namespace pw {

// OpenBLAS chooses its kernels ("core") for the processor when it is loaded. A processor that is
// newer than the library is unknown to it and runs kernels of 2004 (Prescott), several times
// slower.

// The core that OpenBLAS runs in this process, such as "Haswell"; empty = LibTorch has another
// BLAS.
std::string openblas_core();

// Goes on in a process whose OpenBLAS uses what the processor has: tries a better core on a few
// products in a process of its own, then starts this program again with it in OPENBLAS_CORETYPE,
// which it reads when it is loaded, and says so in one line on stderr. Returns in the process to go
// on in: this one where the core fits, where the user has set OPENBLAS_CORETYPE, where no better
// core gives right products, where an argument names a pipe, which cannot be read twice, and where
// LibTorch has another BLAS. Call it before anything is read or printed.
void use_fitting_openblas_core();

// ---- Parts, for tests ----

enum class VectorUnit { older, avx2, avx512 };
VectorUnit vector_unit();  // of this processor

// Cores to try in place of `core` on a processor with `unit`, the best first.
std::vector<std::string> better_openblas_cores(const std::string& core, VectorUnit unit);

// Fortran's sgemm.
using Sgemm = void (*)(const char* transpose_a, const char* transpose_b, const int* m, const int* n,
                       const int* k, const float* alpha, const float* a, const int* a_rows,
                       const float* b, const int* b_rows, const float* beta, float* c,
                       const int* c_rows);

// Whether its products are those of a plain loop in double precision, up to rounding, over small,
// odd and large shapes, transposed and not.
bool products_are_right(Sgemm sgemm);

}  // namespace pw
