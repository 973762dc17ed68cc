#include "operator_cache.h"

#include <algorithm>
#include <utility>

namespace pw {
namespace {

// What an entry takes beside its times: the map's node and bucket, the vector, its counts.
constexpr std::size_t kEntryBytes = 160;

}  // namespace

OperatorCache::OperatorCache(std::size_t gpus, std::size_t bytes) {
  const std::size_t entries = bytes / (kEntryBytes + gpus * sizeof(OperatorTimeOnGpu));
  most_recent_ = std::max<std::size_t>(1, entries / parts_.size() / 2);
}

std::shared_ptr<const OperatorTimes> OperatorCache::find(const OperatorKey& key) {
  Part& part = part_of(key);
  const std::lock_guard<std::mutex> lock(part.mutex);
  if (const auto recent = part.recent.find(key); recent != part.recent.end()) {
    return recent->second;
  }
  const auto old = part.old.find(key);
  if (old == part.old.end()) {
    return nullptr;
  }
  std::shared_ptr<const OperatorTimes> times = std::move(old->second);
  part.old.erase(old);
  insert_recent(part, key, times);
  return times;
}

void OperatorCache::insert(const OperatorKey& key, std::shared_ptr<const OperatorTimes> times) {
  Part& part = part_of(key);
  const std::lock_guard<std::mutex> lock(part.mutex);
  insert_recent(part, key, std::move(times));
}

void OperatorCache::insert_recent(Part& part, const OperatorKey& key,
                                  std::shared_ptr<const OperatorTimes> times) {
  if (part.recent.size() >= most_recent_) {
    part.old = std::exchange(part.recent, {});
  }
  part.recent.insert_or_assign(key, std::move(times));
}

}  // namespace pw
