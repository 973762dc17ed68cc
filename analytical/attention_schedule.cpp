#include "attention_schedule.h"

#include "pw/int_math.h"

namespace pw {
namespace {

constexpr std::int64_t kMaxTasks = std::int64_t{1} << 31;
constexpr std::int64_t kBf16Bytes = 2;

}  // namespace

void check_attention_tasks(std::int64_t tasks) {
  if (tasks > kMaxTasks) {
    throw DataError("attention: the batch needs more than 2^31 CTAs, expected shorter requests");
  }
}

void place(SmLoad& load, std::int64_t iterations) {
  if (iterations > 0) {
    load.tasks += 1;
    load.iterations += iterations;
  }
}

LeastCostSms::LeastCostSms(std::size_t sms) {
  for (std::size_t sm = 0; sm < sms; ++sm) {
    slots_.emplace(0, sm);
  }
}

std::size_t LeastCostSms::take(std::int64_t cost) {
  const auto [so_far, sm] = slots_.top();
  slots_.pop();
  slots_.emplace(checked_add(so_far, cost), sm);
  return sm;
}

TaskCost attention_bytes(const AttentionTile& tile, std::int64_t head_dim) {
  return {checked_mul(tile.q, head_dim, kBf16Bytes), checked_mul(tile.kv, head_dim, kBf16Bytes)};
}

TaskCost ck_bytes(const AttentionTile& tile, std::int64_t head_dim) {
  const TaskCost one = attention_bytes(tile, head_dim);
  return {one.fixed, checked_mul(2, one.per_iteration)};
}

}  // namespace pw
