#include "sweep_grid.h"

#include <algorithm>

namespace pw {
namespace {

// More rows are a slip of the keyboard; with this limit no product of axes overflows.
constexpr std::size_t kMaxRows = std::size_t{1} << 40;

std::size_t batch_choices(const SweepGrid& grid) {
  return std::max<std::size_t>(1, grid.batches.size());
}

std::vector<std::string> texts(const JsonFields& fields, std::string_view key) {
  std::vector<std::string> all;
  for (const Json& element : fields.array(key)) {
    if (!element.is_string()) throw DataError(fields.where(key) + " holds more than texts");
    all.push_back(element.get<std::string>());
  }
  return all;
}

}  // namespace

SweepGrid::Workload SweepGrid::workload(std::size_t number) const {
  const auto next = [&](std::size_t choices) {
    const std::size_t choice = number % choices;
    number /= choices;
    return choice;
  };
  Workload place;
  const std::size_t batch = next(batch_choices(*this));
  place.requests = next(requests.size());
  place.batch = batches.empty() ? requests[place.requests].trace_size : batches[batch];
  place.pp_size = pp_sizes[next(pp_sizes.size())];
  place.tp_size = tp_sizes[next(tp_sizes.size())];
  place.model = number;
  return place;
}

std::size_t SweepGrid::workloads() const {
  std::size_t product = 1;
  for (const std::size_t choices :
       {models.size(), tp_sizes.size(), pp_sizes.size(), requests.size(), batch_choices(*this)}) {
    product *= choices;
    if (product > kMaxRows / std::max<std::size_t>(1, gpus.size())) {
      throw DataError("the sweep has more than " + std::to_string(kMaxRows) +
                      " rows, expected a smaller grid");
    }
  }
  return product;
}

SweepRows shard_rows(const SweepGrid& grid, std::size_t shard, std::size_t shards) {
  const std::size_t workloads = grid.workloads();
  const auto first_of = [&](std::size_t number) {
    return workloads / shards * number + std::min(workloads % shards, number);
  };
  return {first_of(shard - 1) * grid.gpus.size(), first_of(shard) * grid.gpus.size()};
}

Json grid_json(const SweepGrid& grid) {
  Json requests = Json::array();
  for (const SweepRequests& r : grid.requests) {
    requests.push_back(
        r.trace.empty() ? Json{{"input_tokens", r.input_tokens}, {"output_tokens", r.output_tokens}}
                        : Json{{"trace", r.trace}, {"requests", r.trace_size}});
  }
  return {{"models", grid.models}, {"tp", grid.tp_sizes},   {"pp", grid.pp_sizes},
          {"requests", requests},  {"batch", grid.batches}, {"gpus", grid.gpus}};
}

SweepGrid read_grid(const JsonFields& fields) {
  SweepGrid grid;
  grid.models = texts(fields, "models");
  grid.tp_sizes = fields.integers("tp");
  grid.pp_sizes = fields.integers("pp");
  for (const Json& element : fields.array("requests")) {
    const JsonFields entry(element, fields.where("requests"));
    SweepRequests requests;
    if (entry.has("trace")) {
      requests.trace = entry.text("trace");
      requests.trace_size = integer_at_least(entry, "requests", 1);
    } else {
      requests.input_tokens = integer_at_least(entry, "input_tokens", 1);
      requests.output_tokens = integer_at_least(entry, "output_tokens", 1);
    }
    grid.requests.push_back(std::move(requests));
  }
  grid.batches = fields.integers("batch");
  grid.gpus = texts(fields, "gpus");
  if (grid.rows() == 0) {
    throw DataError(fields.where("models") + ": the grid is empty, expected at least one row");
  }
  return grid;
}

}  // namespace pw
