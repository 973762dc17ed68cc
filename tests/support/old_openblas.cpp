// What LD_PRELOAD puts before OpenBLAS to make it one that does not know the processor: its core is
// Prescott unless OPENBLAS_CORETYPE says otherwise when it is loaded. Products are those of the
// library behind it, but with the core of OLD_OPENBLAS_CRASHES or OLD_OPENBLAS_WRONG.

#include <csignal>
#include <cstdlib>
#include <string_view>

#include <dlfcn.h>

#include "model/openblas_core.h"

namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

const char* core_at_load() {
  const char* chosen = std::getenv("OPENBLAS_CORETYPE");
  return chosen == nullptr ? "Prescott" : chosen;
}

const std::string_view core = core_at_load();

// Of the BLAS that came with LibTorch, which pw-train loads with symbols of its own: they are not
// among those that RTLD_NEXT searches.
pw::Sgemm sgemm_behind() {
  for (const char* file : {"libblas.so.3", "libopenblas.so.0"}) {
    if (void* library = dlopen(file, RTLD_LAZY | RTLD_NOLOAD)) {
      if (void* symbol = dlsym(library, "sgemm_")) return reinterpret_cast<pw::Sgemm>(symbol);
    }
  }
  return reinterpret_cast<pw::Sgemm>(dlsym(RTLD_NEXT, "sgemm_"));
}

}  // namespace

extern "C" {

const char* openblas_get_corename() { return core.data(); }

void sgemm_(const char* ta, const char* tb, const int* m, const int* n, const int* k,
            const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
            const float* beta, float* c, const int* ldc) {
  if (core == variable("OLD_OPENBLAS_CRASHES")) {
    std::raise(SIGILL);
  }
  sgemm_behind()(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  if (core == variable("OLD_OPENBLAS_WRONG")) {
    c[0] += 1;
  }
}

}  // extern "C"
