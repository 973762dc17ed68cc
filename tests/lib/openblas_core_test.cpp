#include "model/openblas_core.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pw {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(OpenblasCore, OneBelowTheProcessorIsReplaced) {
  EXPECT_THAT(better_openblas_cores("Prescott", VectorUnit::avx512),
              ElementsAre("SkylakeX", "Haswell"));
  EXPECT_THAT(better_openblas_cores("Nehalem", VectorUnit::avx2), ElementsAre("Haswell"));
  EXPECT_THAT(better_openblas_cores("Zen", VectorUnit::avx512), ElementsAre("SkylakeX"));
}

TEST(OpenblasCore, OneThatFitsOrIsNotKnownStays) {
  EXPECT_THAT(better_openblas_cores("Prescott", VectorUnit::older), IsEmpty());
  EXPECT_THAT(better_openblas_cores("Haswell", VectorUnit::avx2), IsEmpty());
  EXPECT_THAT(better_openblas_cores("Cooperlake", VectorUnit::avx512), IsEmpty());
  EXPECT_THAT(better_openblas_cores("Core of 2030", VectorUnit::avx512), IsEmpty());
  EXPECT_THAT(better_openblas_cores("", VectorUnit::older), IsEmpty());
}

void plain(const char* ta, const char* tb, const int* m, const int* n, const int* k,
           const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
           const float* beta, float* c, const int* ldc) {
  for (int column = 0; column < *n; ++column) {
    for (int row = 0; row < *m; ++row) {
      float sum = 0;
      for (int i = 0; i < *k; ++i) {
        sum += a[*ta == 'T' ? row * *lda + i : i * *lda + row] *
               b[*tb == 'T' ? i * *ldb + column : column * *ldb + i];
      }
      float& cell = c[column * *ldc + row];
      cell = *alpha * sum + *beta * cell;
    }
  }
}

// plain() that spoils one cell of products of more than `kLeastRows` rows.
template <int kLeastRows, int kPlaceFromEnd>
void spoiling(const char* ta, const char* tb, const int* m, const int* n, const int* k,
              const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
              const float* beta, float* c, const int* ldc) {
  plain(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  if (*m > kLeastRows) {
    c[(*n - 1) * *ldc + *m - 1 + kPlaceFromEnd] += 0.01f;
  }
}

void not_a_number(const char*, const char*, const int*, const int*, const int*, const float*,
                  const float*, const int*, const float*, const int*, const float*, float* c,
                  const int*) {
  *c = std::numeric_limits<float>::quiet_NaN();
}

TEST(OpenblasCore, RightProductsPass) { EXPECT_TRUE(products_are_right(plain)); }

TEST(OpenblasCore, WrongProductsDoNot) {
  EXPECT_FALSE((products_are_right(spoiling<0, 0>)));
  EXPECT_FALSE((products_are_right(spoiling<1000, 0>)));  // of large ones alone
  EXPECT_FALSE((products_are_right(spoiling<10, 1>)));    // beside the product
  EXPECT_FALSE(products_are_right(not_a_number));
}

}  // namespace
}  // namespace pw
