#include "parallel.h"

#include <chrono>
#include <utility>

#include <gtest/gtest.h>

#include "support/error_of.h"

namespace pw {
namespace {

using Part = std::pair<std::size_t, std::size_t>;

Part part(std::size_t begin, std::size_t end) { return {begin, end}; }

std::vector<Part> parts_of(std::size_t count, std::size_t part_size) {
  std::vector<Part> parts;
  in_parts(count, part_size, part, [&](const Part& each) { parts.push_back(each); });
  return parts;
}

TEST(InParts, CoversTheRangeInOrder) {
  for (const std::size_t count : {0, 1, 7, 100, 1001}) {
    const std::vector<Part> parts = parts_of(count, 10);
    ASSERT_FALSE(parts.empty());
    std::size_t next = 0;
    for (const auto& [begin, end] : parts) {
      EXPECT_EQ(begin, next);
      EXPECT_TRUE(parts.size() == 1 || (end - begin >= 10 && end - begin < 20)) << count;
      next = end;
    }
    EXPECT_EQ(next, count);
  }
}

// The later a part, the earlier it is done.
TEST(InParts, TakesLatePartsInOrder) {
  std::vector<std::size_t> taken;
  in_parts(
      8, 1,
      [](std::size_t begin, std::size_t) {
        std::this_thread::sleep_for(std::chrono::milliseconds(8 - begin));
        return begin;
      },
      [&](std::size_t begin) { taken.push_back(begin); });
  EXPECT_EQ(taken, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(InParts, ShortWorkStaysOnTheCallingThread) {
  std::thread::id thread;
  const auto work = [](std::size_t, std::size_t) { return std::this_thread::get_id(); };
  in_parts(19, 10, work, [&](std::thread::id id) { thread = id; });
  EXPECT_EQ(thread, std::this_thread::get_id());
}

TEST(InParts, ThrowsTheFirstPartsErrorAndTakesThoseBeforeIt) {
  std::vector<std::size_t> taken;
  const std::string error = error_of([&] {
    in_parts(
        1000, 1,
        [](std::size_t begin, std::size_t) {
          if (begin >= 3) throw DataError("part at " + std::to_string(begin));
          return begin;
        },
        [&](std::size_t begin) { taken.push_back(begin); });
  });
  EXPECT_EQ(error, "part at 3");
  EXPECT_EQ(taken, (std::vector<std::size_t>{0, 1, 2}));
}

TEST(InParts, ThrowsWhatTakingThrows) {
  std::size_t taken = 0;
  const std::string error = error_of([&] {
    in_parts(1000, 1, part, [&](const Part& each) {
      ++taken;
      if (each.first == 2) throw DataError("not that one");
    });
  });
  EXPECT_EQ(error, "not that one");
  EXPECT_EQ(taken, 3u);
}

}  // namespace
}  // namespace pw
