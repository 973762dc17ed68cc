#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/torch_device.h"
#include "profile/torch_transformer.h"
#include "support/error_of.h"

namespace pw {
namespace {

using testing::AllOf;
using testing::HasSubstr;

ProfiledDevice& cpu() {
  static const std::unique_ptr<ProfiledDevice> device = open_torch_device("cpu", 1);
  return *device;
}

AttentionConfig attention_of(std::vector<std::int64_t> q, std::vector<std::int64_t> kv) {
  AttentionConfig config;
  config.kernel = AttentionKernel::fa2;
  config.q_lengths = std::move(q);
  config.kv_lengths = std::move(kv);
  config.query_heads = 4;
  config.kv_heads = 2;
  config.head_dim = 64;
  return config;
}

TEST(TorchDevice, RunsEachOperatorOnColdAndHotOperands) {
  const OperatorConfig configs[] = {GemmConfig{8, 64, 128}, attention_of({16, 16}, {16, 16}),
                                    attention_of({1, 1, 1}, {40, 40, 40}), RmsNormConfig{9, 64},
                                    SiluMulConfig{9, 128}};
  for (const OperatorConfig& config : configs) {
    for (const Operands operands : {Operands::cold, Operands::hot}) {
      const auto kernel = cpu().prepare(config, operands);
      EXPECT_GT(kernel->timed_calls_us(3), 0) << describe(config);
      EXPECT_THAT(kernel->source(), testing::StartsWith("LibTorch "));
      if (operands == Operands::hot) {
        EXPECT_EQ(kernel->operand_sets(), 1);
      } else {
        EXPECT_GT(kernel->operand_sets(), 1);
      }
    }
  }
}

// Together the operands of calls in turn are several times what the cache holds.
TEST(TorchDevice, ColdOperandsExceedTheCache) {
  const std::int64_t n = 1024;
  const auto kernel = cpu().prepare(GemmConfig{1, n, n}, Operands::cold);
  EXPECT_GE(static_cast<double>(kernel->operand_sets() * n * n * 4),
            8.0 * static_cast<double>(cpu().info().cache_bytes));
}

// The work is really done: no thread of any processor multiplies float32 at 2 TFLOP/s, however
// fast, and other load makes a product only slower.
TEST(TorchDevice, DurationsAreThoseOfTheWork) {
  const std::int64_t n = 512;
  const auto kernel = cpu().prepare(GemmConfig{n, n, n}, Operands::hot);
  EXPECT_GT(kernel->timed_calls_us(1), static_cast<double>(2 * n * n * n) / 2e6);
}

TEST(TorchDevice, WhatItCannotRunIsRefusedByName) {
  EXPECT_EQ(cpu().refusal("gemm"), "");
  EXPECT_THAT(cpu().refusal("moe"), AllOf(HasSubstr("LibTorch"), HasSubstr("'moe'")));
  EXPECT_THAT(cpu().refusal("gemm_fp8"), HasSubstr("'gemm_fp8'"));
  EXPECT_THAT(error_of([] {
                cpu().prepare(attention_of({1, 1}, {8, 9}), Operands::hot);
              }),
              HasSubstr("requests of one length"));
  EXPECT_THAT(error_of([] { cpu().prepare(attention_of({4}, {8}), Operands::hot); }),
              HasSubstr("one query or as many as keys"));
  EXPECT_THROW(cpu().prepare(GemmConfig{1 << 30, 1 << 12, 1 << 12}, Operands::hot), DoesNotFit);
}

ModelConfig tiny_model() {
  ModelConfig model;
  model.stem = "tiny";
  model.architecture = "Qwen3ForCausalLM";  // with norms of queries and keys
  model.hidden_size = 48;
  model.vocab_size = 100;
  model.layers = {{3, {4, 2, 16}, {80}}};
  model.layers[0].attention.qk_norm = true;
  return model;
}

// What the KV cache is for: a prompt at once and token by token, alone and in a batch, are the
// same.
TEST(Transformer, DecodingContinuesAPrefill) {
  const std::vector<Request> requests{{9, 9}, {9, 9}, {5, 9}};
  const auto model = Transformer::make(tiny_model(), requests, cpu());
  const Transformer::Tokens prompts{
      {3, 14, 15, 92, 65, 35}, {8, 97, 93, 23, 84, 62}, {6, 43, 38, 32}};
  const std::vector<std::int64_t> at_once = model->forward(prompts);
  const std::vector<float> expected = model->logits();
  model->reset();
  model->forward({{3, 14, 15}, {8, 97, 93}, {6, 43}});
  // One query each from here on: another kernel path than the prefill's.
  model->forward({{92}, {23}, {38}});
  model->forward({{65}, {84}, {32}});
  std::vector<float> stepwise = model->logits();
  const auto vocabulary = static_cast<std::ptrdiff_t>(tiny_model().vocab_size);
  // The third request is complete, the others lack a token.
  EXPECT_THAT(
      std::vector<float>(stepwise.begin() + 2 * vocabulary, stepwise.end()),
      testing::Pointwise(testing::FloatNear(1e-4f),
                         std::vector<float>(expected.begin() + 2 * vocabulary, expected.end())));
  EXPECT_THAT(model->forward({{35}, {62}}), testing::ElementsAre(at_once[0], at_once[1]));
  stepwise = model->logits();
  EXPECT_THAT(stepwise, testing::Pointwise(testing::FloatNear(1e-4f),
                                           std::vector<float>(expected.begin(),
                                                              expected.begin() + 2 * vocabulary)));
  // The comparisons above would hold too if logits did not depend on the prompt. The weights are
  // drawn by LibTorch, whose draws depend on the processor: no single logit has to differ much.
  double largest_difference = 0;
  for (std::ptrdiff_t token = 0; token < vocabulary; ++token) {
    const double difference = expected[static_cast<std::size_t>(token)] -
                              expected[static_cast<std::size_t>(vocabulary + token)];
    largest_difference = std::max(largest_difference, std::abs(difference));
  }
  EXPECT_GT(largest_difference, 1e-3) << "requests differ";
}

TEST(Transformer, ABatchRunsUntilEachRequestHasItsTokens) {
  const std::vector<Request> requests = in_leaving_order({{7, 1}, {5, 4}, {6, 4}, {9, 2}});
  EXPECT_EQ(requests.front().input_tokens, 6);
  EXPECT_EQ(requests.back().input_tokens, 7);
  const auto model = Transformer::make(tiny_model(), requests, cpu());
  const EndToEndRun run = run_end_to_end(*model, tiny_model(), requests);
  EXPECT_EQ(run.decode_s.size(), 3u);
  double sum = run.prefill_s;
  for (const double step : run.decode_s) {
    EXPECT_GT(step, 0);
    sum += step;
  }
  EXPECT_GE(run.total_s, sum * (1 - 1e-9));
}

TEST(Transformer, WhatDoesNotFitIsRefusedWithTheBytes) {
  ModelConfig model = tiny_model();
  model.hidden_size = model.layers[0].mlp.width = 1 << 20;
  const TransformerBytes bytes = transformer_bytes(model, {{9, 9}}, cpu());
  EXPECT_GT(bytes.weights, 3 * 3 * 4 * (std::int64_t{1} << 40));
  EXPECT_THAT(error_of([&] {
                Transformer::make(model, {{9, 9}}, cpu());
              }),
              AllOf(HasSubstr("needs " + std::to_string(bytes.total()) + " bytes in float32"),
                    HasSubstr("free")));
}

// Of one thread of any processor, idle or busy: units would be wrong by a thousand or more.
TEST(Rates, AreThoseOfAMachine) {
  const SustainedRates rates = measure_rates(cpu());
  EXPECT_GT(rates.matrix_ops_per_us, 0);
  EXPECT_LT(rates.matrix_ops_per_us, 2e6);  // 2 TFLOP/s
  for (const double bytes_per_us :
       {rates.copy_bytes_per_us, rates.read_bytes_per_us, rates.cache_bytes_per_us}) {
    EXPECT_GT(bytes_per_us, 0);
    EXPECT_LT(bytes_per_us, 1e7);  // 10 TB/s
  }
}

}  // namespace
}  // namespace pw
