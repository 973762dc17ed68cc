#include "parallel.h"

#include <utility>

#include <gtest/gtest.h>

#include "support/error_of.h"

namespace pw {
namespace {

using Part = std::pair<std::size_t, std::size_t>;

Part part(std::size_t begin, std::size_t end) { return {begin, end}; }

TEST(InParts, CoversTheRangeInOrder) {
  for (const std::size_t count : {0, 1, 7, 100, 1001}) {
    const std::vector<Part> parts = in_parts(count, 10, part);
    ASSERT_FALSE(parts.empty());
    std::size_t next = 0;
    for (const auto& [begin, end] : parts) {
      EXPECT_EQ(begin, next);
      EXPECT_TRUE(parts.size() == 1 || end - begin >= 10) << count;
      next = end;
    }
    EXPECT_EQ(next, count);
  }
}

TEST(InParts, ShortWorkStaysOnTheCallingThread) {
  const auto parts =
      in_parts(19, 10, [](std::size_t, std::size_t) { return std::this_thread::get_id(); });
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0], std::this_thread::get_id());
}

TEST(InParts, ThrowsTheFirstPartsError) {
  const std::string error = error_of([] {
    in_parts(1000, 1, [](std::size_t begin, std::size_t) -> int {
      throw DataError("part at " + std::to_string(begin));
    });
  });
  EXPECT_EQ(error, "part at 0");
}

}  // namespace
}  // namespace pw
