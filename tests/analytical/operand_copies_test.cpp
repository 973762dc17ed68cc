#include "pw/operand_copies.h"

#include <gtest/gtest.h>

namespace pw {
namespace {

constexpr ReusedOperand kOperand{10e6, 50e6, 20};  // of 10 MB, in a cache of 50 MB, cold 20 us

TEST(CachedShare, FallsFromAllToNoneWhereTheSetsFillTheCache) {
  EXPECT_EQ(cached_share(kOperand, 1), 1);
  EXPECT_EQ(cached_share(kOperand, 4.5), 1);
  EXPECT_NEAR(cached_share(kOperand, 5), 0.5, 1e-12);
  EXPECT_NEAR(cached_share(kOperand, 5.5), 0, 1e-12);
  EXPECT_EQ(cached_share(kOperand, 6), 0);
}

TEST(CachedShare, IsNoneForAModelHoweverSmallTheOperand) {
  EXPECT_EQ(cached_share({1, 50e6, 20}, kColdCopies), 0);
  EXPECT_EQ(cached_share({1, 50e6, 20}, kColdCopies - 1), 1);
}

TEST(WithCopies, TakesAtLeastTheColdTimeAsFarAsTheOperandWasCached) {
  EXPECT_EQ(with_copies(8, kOperand, 1, kColdCopies), 20);
  EXPECT_NEAR(with_copies(8, kOperand, 5, kColdCopies), 14, 1e-12);  // half of it was
  EXPECT_EQ(with_copies(25, kOperand, 1, kColdCopies), 25);          // reading is hidden
}

TEST(WithCopies, IsTheMeasurementWhereNothingChanges) {
  EXPECT_EQ(with_copies(8, kOperand, 1, 1), 8);
  EXPECT_EQ(with_copies(8, kOperand, 6, kColdCopies), 8);  // they were in DRAM already
  EXPECT_EQ(with_copies(8, kOperand, 6, 1), 8);            // no data tell the gain
  EXPECT_EQ(with_copies(8, {}, 1, kColdCopies), 8);        // families that know no copies
}

}  // namespace
}  // namespace pw
