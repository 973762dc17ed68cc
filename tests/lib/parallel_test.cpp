#include "parallel.h"

#include <atomic>
#include <chrono>

#include <gtest/gtest.h>

#include "support/error_of.h"

namespace pw {
namespace {

// 0, 1, ... count - 1.
auto numbers(std::size_t count) {
  return [next = std::size_t{0}, count]() mutable {
    return next < count ? std::optional(next++) : std::nullopt;
  };
}

std::size_t same(std::size_t number) { return number; }

std::vector<std::size_t> up_to(std::size_t count) {
  std::vector<std::size_t> all;
  while (all.size() < count) all.push_back(all.size());
  return all;
}

TEST(InOrder, TakesAllResultsInOrder) {
  for (const std::size_t count : {0, 1, 2, 3, 1000}) {
    std::vector<std::size_t> taken;
    auto next = numbers(count);
    in_order([&] { return next(); }, same, [&](std::size_t each) { taken.push_back(each); });
    EXPECT_EQ(taken, up_to(count));
  }
}

// The later an input, the earlier it is done.
TEST(InOrder, TakesLateResultsInOrder) {
  std::vector<std::size_t> taken;
  auto next = numbers(8);
  in_order([&] { return next(); },
           [](std::size_t each) {
             std::this_thread::sleep_for(std::chrono::milliseconds(8 - each));
             return each;
           },
           [&](std::size_t each) { taken.push_back(each); });
  EXPECT_EQ(taken, up_to(8));
}

TEST(InOrder, ASingleInputStaysOnTheCallingThread) {
  std::thread::id thread;
  auto next = numbers(1);
  in_order([&] { return next(); }, [](std::size_t) { return std::this_thread::get_id(); },
           [&](std::thread::id id) { thread = id; });
  EXPECT_EQ(thread, std::this_thread::get_id());
}

// While the first input is at work, others are fetched, but not all of them.
TEST(InOrder, FetchesFewInputsAhead) {
  std::atomic<std::size_t> fetched{0};
  std::size_t fetched_by_first = 0;
  auto next = numbers(1000);
  in_order(
      [&] {
        ++fetched;
        return next();
      },
      [&](std::size_t each) {
        if (each == 0) {
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
          fetched_by_first = fetched;
        }
        return each;
      },
      [](std::size_t) {});
  EXPECT_LE(fetched_by_first, 2 * 8 + 1u);
}

TEST(InOrder, ThrowsTheFirstInputsErrorAndTakesThoseBeforeIt) {
  std::vector<std::size_t> taken;
  auto next = numbers(1000);
  const std::string error = error_of([&] {
    in_order([&] { return next(); },
             [](std::size_t each) {
               if (each >= 3) throw DataError("input " + std::to_string(each));
               return each;
             },
             [&](std::size_t each) { taken.push_back(each); });
  });
  EXPECT_EQ(error, "input 3");
  EXPECT_EQ(taken, up_to(3));
}

TEST(InOrder, ThrowsWhatFetchingThrowsAfterTheInputsBefore) {
  for (const std::size_t good : {0, 1, 2, 50}) {
    std::vector<std::size_t> taken;
    auto next = numbers(1000);
    const std::string error = error_of([&] {
      in_order(
          [&] {
            const auto number = next();
            if (number == good) throw DataError("no more");
            return number;
          },
          same, [&](std::size_t each) { taken.push_back(each); });
    });
    EXPECT_EQ(error, "no more");
    EXPECT_EQ(taken, up_to(good));
  }
}

TEST(InOrder, ThrowsWhatTakingThrows) {
  std::size_t taken = 0;
  auto next = numbers(1000);
  const std::string error = error_of([&] {
    in_order([&] { return next(); }, same,
             [&](std::size_t each) {
               ++taken;
               if (each == 2) throw DataError("not that one");
             });
  });
  EXPECT_EQ(error, "not that one");
  EXPECT_EQ(taken, 3u);
}

}  // namespace
}  // namespace pw
