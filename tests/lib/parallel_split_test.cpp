#include "parallel_split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/demo_model.h"
#include "support/error_of.h"

namespace pw {
namespace {

using testing::HasSubstr;

TEST(SplitOverRanks, SharesHeadsAndReplicatesKvHeads) {
  struct Case {
    std::int64_t kv_heads, tp_size;
    bool published;
    std::int64_t query_heads, kv_per_rank, qkv_width, intermediate, vocab;
  };
  const Case cases[] = {
      {2, 1, false, 16, 2, (16 + 4) * 128, 5632, 32000},
      {2, 2, false, 8, 1, (8 + 2) * 128, 2816, 16000},
      {2, 4, false, 4, 1, 768, 1408, 8000},
      {2, 4, true, 4, 2, 640, 1408, 32000},  // plain division, KV heads replicated as a whole
      {16, 4, false, 4, 4, 12 * 128, 1408, 8000},
      {16, 4, true, 4, 4, 12 * 128, 1408, 32000},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(testing::Message() << "kv " << c.kv_heads << " tp " << c.tp_size);
    const RankShape rank = split_over_ranks(demo_model(c.kv_heads), c.tp_size, c.published).front();
    EXPECT_EQ(rank.query_heads, c.query_heads);
    EXPECT_EQ(rank.kv_heads, c.kv_per_rank);
    EXPECT_EQ(rank.qkv_width, c.qkv_width);
    EXPECT_EQ(rank.mlp_width, c.intermediate);
    if (!c.published) {
      EXPECT_EQ(vocab_per_rank(32000, c.tp_size), c.vocab);
    }
  }
}

TEST(SplitOverRanks, RefusesWithTheValidSizes) {
  ModelConfig twelve_heads = demo_model(3);
  twelve_heads.layers[0].attention.heads = 12;  // 3, 6 and 12 do not divide 5632 = 2^9 * 11
  ModelConfig odd_mlp = demo_model(16);
  odd_mlp.layers[0].mlp.width = 5634;  // 2 * 3 * 3 * 313
  struct Bad {
    ModelConfig model;
    std::int64_t tp_size;
    const char* problem;
    const char* valid;
  };
  const Bad cases[] = {
      {demo_model(2), 3, "num_attention_heads 16 is not divisible by 3", "are 1, 2, 4, 8, 16"},
      {demo_model(2), 0, "must be at least 1", "are 1, 2, 4, 8, 16"},
      {demo_model(2), 32, "num_attention_heads 16 is not divisible by 32", "are 1, 2, 4, 8, 16"},
      {twelve_heads, 2, "num_key_value_heads 3 is neither divisible by nor a divisor of 2",
       "are 1"},
      {odd_mlp, 4, "intermediate_size 5634 is not divisible by 4", "are 1, 2"},
  };
  for (const Bad& bad : cases) {
    const std::string message = error_of([&] { split_over_ranks(bad.model, bad.tp_size, false); });
    EXPECT_THAT(message, HasSubstr("tp_size " + std::to_string(bad.tp_size) + " is not possible"));
    EXPECT_THAT(message, HasSubstr(bad.problem));
    EXPECT_THAT(message, testing::EndsWith(bad.valid));
  }
}

TEST(VocabPerRank, PadsTheVocabularyOnlyToShardIt) {
  EXPECT_EQ(vocab_per_rank(32001, 1), 32001);
  EXPECT_EQ(vocab_per_rank(32001, 2), 16032);  // 32064 / 2
  EXPECT_EQ(vocab_per_rank(152064, 8), 19008);
  EXPECT_EQ(vocab_per_rank(64, 3), 22);
}

TEST(SplitIntoStages, LosesNoLayer) {
  using Stages = std::vector<std::int64_t>;
  EXPECT_EQ(split_into_stages(61, 4), (Stages{16, 15, 15, 15}));
  EXPECT_EQ(split_into_stages(30, 4), (Stages{8, 8, 7, 7}));
  EXPECT_EQ(split_into_stages(80, 2), (Stages{40, 40}));
  EXPECT_EQ(split_into_stages(5, 1), (Stages{5}));
  EXPECT_THAT(error_of([] { split_into_stages(5, 7); }),
              HasSubstr("pp_size 7 > num_hidden_layers 5"));
  EXPECT_THAT(error_of([] { split_into_stages(5, 0); }), HasSubstr("pp_size 0 is not possible"));
}

}  // namespace
}  // namespace pw
