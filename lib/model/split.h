#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace pw {

// A uniform integer in 0..max: outputs of the generator, cut to the bits of `max`, until one fits.
// The published split and the published forests draw like this.
std::uint32_t draw(std::mt19937& generator, std::uint32_t max);

// Fisher-Yates from the last element down, with draw().
void shuffle(std::vector<std::int64_t>& values, std::mt19937& generator);

// Row numbers of a data set.
struct Split {
  std::vector<std::int64_t> training;
  std::vector<std::int64_t> validation;
};

// The first ceil(fraction * rows) entries of a permutation of the rows validate, the rest train.
// Source: spec of the published training, "split".
Split split_rows(std::int64_t rows, double fraction, std::int64_t seed);

// Validates on whole groups, so that no problem is in both parts: groups in random order until
// they have ceil(fraction * rows) rows. Rows keep their order within each part. A part is empty
// when there are fewer than two groups.
Split split_groups(const std::vector<std::uint64_t>& group_of_row, double fraction,
                   std::int64_t seed);

// The same for some rows of a data set; both parts hold rows of the data set.
Split split_groups_of(const std::vector<std::uint64_t>& group_of_row,
                      const std::vector<std::int64_t>& rows, double fraction, std::int64_t seed);

}  // namespace pw
