#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/json_file.h"

namespace pw {

// Requests that run together: those of a trace, or equal ones.
struct SweepRequests {
  std::string trace;               // stem; empty for equal requests
  std::int64_t trace_size = 0;     // requests in the trace
  std::int64_t input_tokens = 0;   // of equal requests
  std::int64_t output_tokens = 0;  // of equal requests
};

// The axes of a sweep by name. A workload is a place on all axes but the GPUs; a row is a workload
// on a GPU. Rows are numbered from 0 with the GPU running fastest, then batch, requests, pp, tp and
// model.
struct SweepGrid {
  std::vector<std::string> models;
  std::vector<std::int64_t> tp_sizes;
  std::vector<std::int64_t> pp_sizes;
  std::vector<SweepRequests> requests;
  std::vector<std::int64_t> batches;  // empty: each trace as a whole
  std::vector<std::string> gpus;      // stems

  struct Workload {
    std::size_t model = 0;
    std::int64_t tp_size = 1;
    std::int64_t pp_size = 1;
    std::size_t requests = 0;
    std::int64_t batch = 0;
  };
  Workload workload(std::size_t number) const;
  std::size_t workloads() const;
  std::size_t rows() const { return workloads() * gpus.size(); }
};

// Consecutive rows [begin, end).
struct SweepRows {
  std::size_t begin = 0, end = 0;
  std::size_t count() const { return end - begin; }
};
// The rows of shard 1 to `shards`: whole workloads, the shards one after the other and all rows
// together, sizes that differ by one workload at most.
SweepRows shard_rows(const SweepGrid& grid, std::size_t shard, std::size_t shards);

Json grid_json(const SweepGrid& grid);
// Throws DataError for anything that grid_json does not write.
SweepGrid read_grid(const JsonFields& fields);

}  // namespace pw
