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

}  // namespace

extern "C" {

const char* openblas_get_corename() { return core.data(); }

void sgemm_(const char* ta, const char* tb, const int* m, const int* n, const int* k,
            const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
            const float* beta, float* c, const int* ldc) {
  if (core == variable("OLD_OPENBLAS_CRASHES")) {
    std::raise(SIGILL);
  }
  const auto next = reinterpret_cast<pw::Sgemm>(dlsym(RTLD_NEXT, "sgemm_"));
  next(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  if (core == variable("OLD_OPENBLAS_WRONG")) {
    c[0] += 1;
  }
}

}  // extern "C"
