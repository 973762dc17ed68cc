#include "attention_schedule.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "pw/int_math.h"
#include "support/test_hardware.h"

namespace pw {
namespace {

struct Slot {
  std::int64_t finish = 0;
  std::size_t sm = 0;
};

void record(std::vector<SmLoad>& loads, std::size_t sm, std::int64_t iterations) {
  if (iterations > 0) {
    loads[sm].tasks += 1;
    loads[sm].iterations += iterations;
  }
}

// Time step by time step: every slot that is free takes the next task, lower SMs first.
std::vector<SmLoad> simulate_fa2(const std::vector<std::int64_t>& tasks, std::size_t sms,
                                 bool real_durations) {
  std::vector<SmLoad> loads(sms);
  std::vector<Slot> slots;
  for (int round = 0; round < 2; ++round) {
    for (std::size_t sm = 0; sm < sms; ++sm) {
      slots.push_back({0, sm});
    }
  }
  const auto duration = [&](std::int64_t n) {
    return real_durations ? std::max<std::int64_t>(1, n) : std::int64_t{1};
  };
  std::size_t next = 0;
  for (Slot& slot : slots) {
    if (next < tasks.size()) {
      record(loads, slot.sm, tasks[next]);
      slot.finish = duration(tasks[next++]);
    }
  }
  for (std::int64_t now = 1; next < tasks.size(); ++now) {
    std::vector<Slot*> free;
    for (Slot& slot : slots) {
      if (slot.finish == now) {
        free.push_back(&slot);
      }
    }
    std::stable_sort(free.begin(), free.end(),
                     [](const Slot* a, const Slot* b) { return a->sm < b->sm; });
    for (Slot* slot : free) {
      if (next < tasks.size()) {
        record(loads, slot->sm, tasks[next]);
        slot->finish = now + duration(tasks[next++]);
      }
    }
  }
  return loads;
}

// The SM with the smallest cost by a plain scan.
std::vector<SmLoad> simulate_fa3(const AttentionConfig& a, const AttentionTile& tile,
                                 std::size_t sms) {
  std::vector<std::size_t> order(a.q_lengths.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t x, std::size_t y) { return a.kv_lengths[x] > a.kv_lengths[y]; });
  std::vector<std::int64_t> cost(sms, 0);
  std::vector<SmLoad> loads(sms);
  for (std::int64_t head = 0; head < a.query_heads; ++head) {
    for (const std::size_t i : order) {
      for (std::int64_t j = ceil_div(a.q_lengths[i], tile.q) - 1; j >= 0; --j) {
        const auto sm =
            static_cast<std::size_t>(std::min_element(cost.begin(), cost.end()) - cost.begin());
        const std::int64_t end = (j + 1) * tile.q + a.kv_lengths[i] - a.q_lengths[i];
        const std::int64_t kv = a.kv_lengths[i];
        std::int64_t n = ceil_div(kv, tile.kv);
        if (a.causal) {
          n = std::min(n, ceil_div(end, tile.kv));
        }
        record(loads, sm, n);
        cost[sm] += tile.q * (a.causal ? std::max<std::int64_t>(0, std::min(end, kv)) : kv);
      }
    }
  }
  return loads;
}

void expect_equal(const std::vector<SmLoad>& found, const std::vector<SmLoad>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t sm = 0; sm < found.size(); ++sm) {
    EXPECT_EQ(found[sm].tasks, expected[sm].tasks) << "SM " << sm;
    EXPECT_EQ(found[sm].iterations, expected[sm].iterations) << "SM " << sm;
  }
}

AttentionConfig random_batch(std::mt19937& random, AttentionKernel kernel) {
  const auto draw = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  AttentionConfig a;
  a.kernel = kernel;
  a.layout = draw(0, 1) == 0 ? KvLayout::ragged : KvLayout::paged;
  const std::int64_t batch = draw(1, 9);
  const bool decode = draw(0, 1) == 0;
  for (std::int64_t i = 0; i < batch; ++i) {
    const std::int64_t q = decode ? 1 : draw(1, 700);
    a.q_lengths.push_back(q);
    a.kv_lengths.push_back(draw(0, 4) == 0 ? draw(1, 900) : q + draw(0, 2000));
  }
  a.kv_heads = draw(1, 8);
  a.query_heads = a.kv_heads * draw(1, 5);
  a.head_dim = std::int64_t{64} << draw(0, 2);
  a.causal = draw(0, 4) != 0;
  return a;
}

TEST(Fa2Schedule, EqualsTheNaiveSimulation) {
  std::mt19937 random(7);
  int in_later_rounds = 0;
  for (int i = 0; i < 300; ++i) {
    const AttentionConfig a = random_batch(random, AttentionKernel::fa2);
    const HardwareSpec hardware = i % 2 == 0 ? test_ampere() : test_hopper();
    const auto sms = static_cast<std::size_t>(hardware.num_sms);
    const auto tasks = fa2_tasks(a, fa2_tile(a, hardware), hardware);
    in_later_rounds += tasks.size() > 2 * sms ? 1 : 0;
    SCOPED_TRACE(i);
    expect_equal(schedule_fa2(a, hardware, Fa2Schedule::published).loads,
                 simulate_fa2(tasks, sms, false));
    expect_equal(schedule_fa2(a, hardware, Fa2Schedule::faithful).loads,
                 simulate_fa2(tasks, sms, true));
  }
  EXPECT_GT(in_later_rounds, 50);
}

TEST(Fa3Schedule, EqualsTheNaiveSimulation) {
  std::mt19937 random(11);
  for (int i = 0; i < 300; ++i) {
    const AttentionConfig a = random_batch(random, AttentionKernel::fa3);
    const HardwareSpec hardware = i % 2 == 0 ? test_ampere() : test_hopper();
    const AttentionSchedule schedule = schedule_fa3(a, hardware);
    SCOPED_TRACE(i);
    expect_equal(schedule.loads,
                 simulate_fa3(a, schedule.tile, static_cast<std::size_t>(hardware.num_sms)));
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
  const auto tasks = fa2_tasks(a, tile, a40);
  EXPECT_EQ(tasks.size(), 168u);
  EXPECT_EQ(std::count(tasks.begin(), tasks.end(), 0), 8);
  const std::vector<std::int64_t> first(tasks.begin(), tasks.begin() + 20);
  EXPECT_EQ(first, (std::vector<std::int64_t>{1, 1, 1, 1, 0, 0, 0, 0, 1, 1,
                                              1, 1, 0, 0, 0, 0, 2, 2, 2, 2}));
}

}  // namespace
}  // namespace pw
