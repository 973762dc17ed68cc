#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "sweep_evaluator.h"
#include "sweep_grid.h"
#include "sweep_rows.h"

namespace pw {

// What stands behind the names of a grid.
struct Sweep {
  SweepGrid grid;
  SweepFormat format = SweepFormat::csv;
  std::vector<ModelConfig> models;  // as grid.models
  std::vector<Trace> traces;        // as grid.requests; empty traces for equal requests
  WorkloadOptions options;          // the grid's tp_size and pp_size win
};

// Consecutive rows as they stand in the output.
struct SweepLines {
  std::string text;
  std::size_t rows = 0;
  std::size_t impossible = 0;  // of the rows
};

// Evaluates the workloads of `rows` in several threads and hands over their lines in the order of
// the grid, on the calling thread, as soon as they and all before them are there. At most a few
// workloads per thread wait. Stops early when `stop` returns true; it is asked several times a
// second. Exceptions of `use` and of the threads end the run.
void run_sweep(const Sweep& sweep, const SweepEvaluator& evaluator, SweepRows rows,
               std::size_t threads, const std::function<bool()>& stop,
               const std::function<void(const SweepLines&)>& use);

}  // namespace pw
