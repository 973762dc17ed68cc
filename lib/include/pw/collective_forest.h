#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "pw/collective_sample.h"

namespace pw {

// What a forest answers for one range of worker counts: a step function of the message size.
struct ForestSteps {
  std::vector<std::int64_t> bytes_up_to;  // last size of each step, ascending; the last has no end
  std::vector<double> duration_us;        // one per step, so one more than ends; above 0
};

// A random forest over (bytes, workers), stored as the function that it is: constant in steps. That
// is exact for every whole size and worker count, a few times smaller than its trees, and one
// search instead of 100 descents.
struct CollectiveForest {
  std::map<std::int64_t, ForestSteps> steps_from_workers;  // by the first worker count; from 1
  std::vector<std::int64_t> workers;                       // those of the samples, ascending
  std::int64_t largest_bytes = 0;                          // of the samples: constant above
  std::int64_t rows = 0;                                   // samples that it was fitted on
};

// As the 100 trees answer, also for worker counts that no sample has. bytes, workers >= 1.
double evaluate(const CollectiveForest& forest, std::int64_t bytes, std::int64_t workers);

// The original's forest: 100 trees of depth 20 on bootstrap samples, seed 42, the same random
// numbers and splits as its library's (scikit-learn 1.2). `samples`: at least one, in the file's
// order, which the bootstrap depends on. Reproduces published durations when they are means.
CollectiveForest fit_forest(const std::vector<CollectiveSample>& samples);

}  // namespace pw
