#include "attention_schedule.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "cyclic_slots.h"
#include "least_cost_sms.h"
#include "support/attention_oracle.h"
#include "support/test_hardware.h"

namespace pw {
namespace {

void expect_equal(const std::vector<SmLoad>& found, const std::vector<SmLoad>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t sm = 0; sm < found.size(); ++sm) {
    ASSERT_EQ(found[sm].tasks, expected[sm].tasks) << "SM " << sm;
    ASSERT_EQ(found[sm].iterations, expected[sm].iterations) << "SM " << sm;
  }
}

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}

  std::int64_t operator()(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  bool one_in(std::int64_t n) { return (*this)(1, n) == 1; }

 private:
  std::mt19937 random_;
};

// Decode steps, prefills, chunks of prefills and batches where queries outnumber the context; with
// runs of equal requests.
AttentionConfig random_batch(Draw& draw, std::int64_t longest) {
  AttentionConfig a;
  a.layout = draw.one_in(2) ? KvLayout::ragged : KvLayout::paged;
  const std::int64_t kind = draw(0, 3);
  const std::int64_t requests = draw.one_in(4) ? draw(10, 60) : draw(1, 9);
  while (static_cast<std::int64_t>(a.q_lengths.size()) < requests) {
    const std::int64_t q = kind == 0 ? 1 : draw(1, longest);
    const std::int64_t kv = kind == 1 ? q : kind == 2 ? draw(1, longest) : q + draw(0, longest);
    for (std::int64_t same = draw.one_in(3) ? draw(2, 40) : 1; same > 0; --same) {
      a.q_lengths.push_back(q);
      a.kv_lengths.push_back(kv);
    }
  }
  a.kv_heads = draw(1, 8);
  a.query_heads = a.kv_heads * draw(1, 5);
  a.head_dim = std::int64_t{64} << draw(0, 2);
  a.causal = !draw.one_in(4);
  return a;
}

HardwareSpec random_gpu(Draw& draw) {
  HardwareSpec hardware = draw.one_in(2) ? test_ampere() : test_hopper();
  if (draw.one_in(2)) {
    hardware.num_sms = draw(1, 200);
  }
  return hardware;
}

// Compares a schedule with its simulation on random batches, most of them short.
template <class Compare>
void compare_on_random_batches(unsigned seed, const Compare& compare) {
  Draw draw(seed);
  for (int i = 0; i < 400; ++i) {
    SCOPED_TRACE(i);
    const AttentionConfig a = random_batch(draw, i % 20 == 0 ? 9000 : 900);
    compare(a, random_gpu(draw));
    if (testing::Test::HasFatalFailure()) {
      return;
    }
  }
}

TEST(Fa2Schedule, EqualsTheNaiveSimulation) {
  int one_round = 0, later_rounds = 0, chunked = 0;
  compare_on_random_batches(7, [&](const AttentionConfig& a, const HardwareSpec& hardware) {
    const auto sms = static_cast<std::size_t>(hardware.num_sms);
    const AttentionTile tile = fa2_tile(a, hardware);
    const auto tasks = oracle::fa2_tasks(a, tile, hardware.num_sms);
    for (const Fa2Schedule mode : {Fa2Schedule::published, Fa2Schedule::faithful}) {
      expect_equal(schedule_fa2(a, hardware, mode).loads, oracle::simulate_fa2(tasks, sms, mode));
    }
    (tasks.size() > 2 * sms ? later_rounds : one_round) += 1;
    const std::int64_t longest = *std::max_element(a.kv_lengths.begin(), a.kv_lengths.end());
    chunked += oracle::fa2_chunk(a, tile.q, hardware.num_sms) < longest ? 1 : 0;
  });
  EXPECT_GT(one_round, 40);
  EXPECT_GT(later_rounds, 200);
  EXPECT_GT(chunked, 20);
}

// One request at a time, so that its KV is split into chunks of every size.
TEST(Fa2Schedule, SplitsDecodeStepsAsTheNaiveSimulation) {
  const HardwareSpec hardware = test_ampere();
  const auto sms = static_cast<std::size_t>(hardware.num_sms);
  for (const KvLayout layout : {KvLayout::ragged, KvLayout::paged}) {
    for (std::int64_t kv = 1; kv < 9000; kv += kv < 300 ? 1 : 97) {
      for (const std::int64_t others : {0, 5, 20}) {
        AttentionConfig a;
        a.layout = layout;
        a.q_lengths.assign(static_cast<std::size_t>(others + 1), 1);
        a.kv_lengths.assign(static_cast<std::size_t>(others + 1), 400);
        a.kv_lengths.back() = kv;
        a.query_heads = 40;
        a.kv_heads = 8;
        a.head_dim = 128;
        const auto tasks = oracle::fa2_tasks(a, fa2_tile(a, hardware), hardware.num_sms);
        SCOPED_TRACE("kv " + std::to_string(kv) + ", others " + std::to_string(others));
        expect_equal(schedule_fa2(a, hardware, Fa2Schedule::published).loads,
                     oracle::simulate_fa2(tasks, sms, Fa2Schedule::published));
        ASSERT_FALSE(HasFatalFailure());
      }
    }
  }
}

TEST(Fa3Schedule, EqualsTheNaiveSimulation) {
  compare_on_random_batches(11, [](const AttentionConfig& a, const HardwareSpec& hardware) {
    const AttentionSchedule schedule = schedule_fa3(a, hardware);
    expect_equal(schedule.loads, oracle::simulate_fa3(a, schedule.tile, schedule.loads.size()));
  });
}

TEST(Fa3Schedule, CountsOneHeadOfAHugeBatchAsTheNaiveSimulation) {
  AttentionConfig a;
  a.query_heads = a.kv_heads = 4;
  a.head_dim = 128;
  for (const std::int64_t requests : {4000, 4096, 4097, 8192, 8193}) {
    a.q_lengths.assign(static_cast<std::size_t>(requests), 128);
    a.kv_lengths.assign(static_cast<std::size_t>(requests), 128);
    a.kv_lengths[1] = 3000;
    const AttentionSchedule schedule = schedule_fa3(a, test_hopper());
    SCOPED_TRACE(requests);
    expect_equal(schedule.loads, oracle::simulate_fa3(a, schedule.tile, schedule.loads.size()));
  }
}

TEST(CutlassSchedule, EqualsTheNaiveSimulation) {
  compare_on_random_batches(13, [](const AttentionConfig& a, const HardwareSpec& hardware) {
    const AttentionSchedule schedule = schedule_cutlass(a, hardware);
    expect_equal(schedule.loads, oracle::simulate_cutlass(a, schedule.tile, schedule.loads.size()));
  });
}

TEST(CkSchedule, EqualsTheNaiveSimulation) {
  compare_on_random_batches(17, [](AttentionConfig a, const HardwareSpec& hardware) {
    std::fill(a.q_lengths.begin(), a.q_lengths.end(), a.q_lengths.front());
    std::fill(a.kv_lengths.begin(), a.kv_lengths.end(), a.kv_lengths.front());
    const AttentionSchedule schedule = schedule_ck(a, hardware);
    expect_equal(schedule.loads, oracle::simulate_ck(a, schedule.tile, schedule.loads.size()));
  });
}

// Long runs of equal tasks after unequal ones: whole rounds start late, or not at all.
TEST(LeastCostSms, EqualsAScan) {
  Draw draw(19);
  for (int i = 0; i < 400; ++i) {
    SCOPED_TRACE(i);
    const std::int64_t sms = draw(1, 70);
    LeastCostSms found(sms, 1);
    oracle::ScannedSms expected(static_cast<std::size_t>(sms));
    for (std::int64_t runs = draw(0, 12); runs > 0; --runs) {
      const std::int64_t cost = draw.one_in(3) ? draw(1, 1000) : draw(1, 5);
      const std::int64_t iterations = draw(0, cost);
      const std::int64_t count = draw.one_in(3) ? draw(1, 3000) : draw(1, 20);
      found.give(cost, iterations, count);
      for (std::int64_t task = 0; task < count; ++task) {
        expected.give(cost, iterations);
      }
    }
    expect_equal(found.loads(), expected.loads());
    ASSERT_FALSE(HasFatalFailure());
  }
}

TEST(LeastCostSms, TakesHugeRunsAtOnceAndRefusesCostsBeyondInt64) {
  LeastCostSms sms(3, 2);
  constexpr std::int64_t kRounds = std::int64_t{1} << 40;
  sms.give(5, 4, 6 * kRounds + 1);
  const std::vector<SmLoad> loads = sms.loads();
  EXPECT_EQ(loads[0].tasks, 2 * kRounds + 1);
  EXPECT_EQ(loads[1].tasks, 2 * kRounds);
  EXPECT_EQ(loads[2].iterations, 2 * kRounds * 4);
  EXPECT_THROW(sms.give(std::int64_t{1} << 40, 1, std::int64_t{1} << 22), std::overflow_error);
}

TEST(CyclicSlots, EqualOneTaskAfterTheOther) {
  Draw draw(23);
  for (int i = 0; i < 200; ++i) {
    SCOPED_TRACE(i);
    const std::int64_t slots = draw(1, 40);
    CyclicSlots found(slots);
    std::vector<SmLoad> expected(static_cast<std::size_t>(slots));
    for (std::int64_t runs = draw(0, 9); runs > 0; --runs) {
      const std::int64_t first = draw(0, slots - 1), iterations = draw(0, 4);
      const std::int64_t count = draw(0, 100), times = draw(1, 3);
      found.add(first, iterations, count, times);
      for (std::int64_t task = 0; task < count * times; ++task) {
        const std::int64_t slot = (first + task % count) % slots;
        oracle::record(expected, static_cast<std::size_t>(slot), iterations);
      }
    }
    expect_equal(found.loads(), expected);
    ASSERT_FALSE(HasFatalFailure());
  }
}

TEST(CyclicSlots, StartsAreCountedByResidue) {
  Draw draw(29);
  for (int i = 0; i < 200; ++i) {
    const std::int64_t slots = draw(1, 30), first = draw(0, 90), stride = draw(0, 90);
    const std::int64_t count = draw(0, 200);
    std::vector<std::int64_t> found(static_cast<std::size_t>(slots)), expected = found;
    for_each_start(first, stride, count, slots, [&](std::int64_t slot, std::int64_t times) {
      found[static_cast<std::size_t>(slot)] += times;
    });
    for (std::int64_t start = 0; start < count; ++start) {
      ++expected[static_cast<std::size_t>((first + start * stride) % slots)];
    }
    EXPECT_EQ(found, expected) << i;
  }
}

// Worked example of the published description: Hopper, two requests, 32 heads.
TEST(Fa3Schedule, WorkedExample) {
  AttentionConfig a;
  a.kernel = AttentionKernel::fa3;
  a.q_lengths = {64, 512};
  a.kv_lengths = {320, 1536};
  a.query_heads = 32;
  a.kv_heads = 8;
  a.head_dim = 128;
  const AttentionSchedule schedule = schedule_fa3(a, test_hopper());
  EXPECT_EQ(schedule.tile.q, 128);
  EXPECT_EQ(schedule.tile.kv, 128);
  const TotalAndMax tensor = total_and_max(schedule.loads, fa3_tensor_cost(schedule.tile, 128));
  EXPECT_EQ(tensor.total, 12079595520);
  EXPECT_EQ(tensor.sm_max, 125829120);
  EXPECT_EQ(total_and_max(schedule.loads, fa3_xu_cost(schedule.tile, 128)).sm_max, 254976);
}

// Worked example: an A40-like card, paged, head_dim 64: chunks of 90 tokens, 168 tasks, 8 empty.
TEST(Fa2Tasks, WorkedExamplePaged) {
  HardwareSpec a40 = test_ampere();
  a40.num_sms = 84;
  a40.shared_memory_kib = 100;
  AttentionConfig a;
  a.kernel = AttentionKernel::fa2;
  a.layout = KvLayout::paged;
  a.q_lengths = {100, 1, 37};
  a.kv_lengths = {100, 900, 1000};
  a.query_heads = 16;
  a.kv_heads = 4;
  a.head_dim = 64;
  const AttentionTile tile = fa2_tile(a, a40);
  EXPECT_EQ(tile.q, 128);
  EXPECT_EQ(tile.kv, 64);
  const auto tasks = oracle::fa2_tasks(a, tile, a40.num_sms);
  EXPECT_EQ(tasks.size(), 168u);
  EXPECT_EQ(std::count(tasks.begin(), tasks.end(), 0), 8);
  const std::vector<std::int64_t> first(tasks.begin(), tasks.begin() + 20);
  EXPECT_EQ(first, (std::vector<std::int64_t>{1, 1, 1, 1, 0, 0, 0, 0, 1, 1,
                                              1, 1, 0, 0, 0, 0, 2, 2, 2, 2}));
}

}  // namespace
}  // namespace pw
