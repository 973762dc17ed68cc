#include "pw/prediction_diff.h"

#include <gtest/gtest.h>

namespace pw {
namespace {

TEST(PredictionDiff, ShowsEachOperatorByPhase) {
  PredictedCase a, b;
  a.file = "a.json";
  b.file = "b.json";
  a.ms = {{10.0, 2.0, 30.0}};
  b.ms = {{12.5, std::nullopt, 30.0}};
  a.operators = {{"gemm", "qkv", {{8, 1, 18}}}, {"rmsnorm", "rmsnorm", {{2, 1, 12}}}};
  b.operators = {{"gemm", "qkv", {{10, 1, 20}}}, {"communication", "all_reduce", {{2.5, 0, 10}}}};
  EXPECT_EQ(prediction_diff_text(a, b),
            "A: a.json\n"
            "B: b.json\n"
            "\n"
            "prefill\n"
            "  operator                     A ms     B ms  B - A ms      %\n"
            "  gemm qkv                   8.0000  10.0000    2.0000  25.00\n"
            "  rmsnorm                    2.0000      n/a       n/a    n/a\n"
            "  communication all_reduce      n/a   2.5000       n/a    n/a\n"
            "  sum                       10.0000  12.5000    2.5000  25.00\n"
            "\n"
            "decode, average step\n"
            "  operator                    A ms    B ms  B - A ms     %\n"
            "  gemm qkv                  1.0000  1.0000    0.0000  0.00\n"
            "  rmsnorm                   1.0000     n/a       n/a   n/a\n"
            "  communication all_reduce     n/a  0.0000       n/a   n/a\n"
            "  sum                       2.0000     n/a       n/a   n/a\n"
            "\n"
            "total\n"
            "  operator                     A ms     B ms  B - A ms      %\n"
            "  gemm qkv                  18.0000  20.0000    2.0000  11.11\n"
            "  rmsnorm                   12.0000      n/a       n/a    n/a\n"
            "  communication all_reduce      n/a  10.0000       n/a    n/a\n"
            "  sum                       30.0000  30.0000    0.0000   0.00\n");
}

}  // namespace
}  // namespace pw
