#include "pw/collective.h"

#include <cstdlib>
#include <sstream>

#include "pw/collective_errors.h"
#include "pw/fields.h"

namespace pw {
namespace {

// The last knot is the mean size of its bin, up to 2.4 % below the largest measured size.
constexpr std::string_view kCustomAllReduce = "custom_all_reduce";
constexpr double kExtrapolationMargin = 1.025;

std::string number_text(double value) {
  std::ostringstream text;
  text.precision(15);
  text << value;
  return text.str();
}

std::vector<std::int64_t> measured_workers(const CollectiveModel& model) {
  if (model.forest) {
    return model.forest->workers;
  }
  std::vector<std::int64_t> workers;
  for (const auto& [measured, curve] : model.curves) {
    workers.push_back(measured);
  }
  return workers;
}

// The measured worker count that answers for `workers`.
std::int64_t nearest_workers(const CollectiveModel& model, std::int64_t workers) {
  const std::vector<std::int64_t> all = measured_workers(model);
  std::int64_t nearest = all.front();
  for (const std::int64_t measured : all) {  // ascending: the larger wins a tie
    if (std::abs(measured - workers) <= std::abs(nearest - workers)) {
      nearest = measured;
    }
  }
  return nearest;
}

CollectiveEstimate at_measured(const CollectiveModel& model, std::int64_t bytes,
                               std::int64_t workers) {
  CollectiveEstimate result;
  result.duration_us = evaluate(model, bytes, workers);
  const double size = static_cast<double>(bytes);
  if (model.forest && bytes > model.forest->largest_bytes) {
    result.facts.add({FactKind::collective_extrapolated,
                      "the forest of " + model.collective +
                          " is constant beyond its largest size, " +
                          std::to_string(model.forest->largest_bytes) + " bytes: too short for " +
                          std::to_string(bytes),
                      {{"collective", model.collective},
                       {"largest_bytes", model.forest->largest_bytes},
                       {"bytes", bytes}}});
  } else if (!model.forest) {
    const double last = model.curves.at(workers).bytes.back();
    if (size > last * kExtrapolationMargin) {
      result.facts.add(
          {FactKind::collective_extrapolated,
           model.collective + " extrapolated from " + number_text(last) + " to " +
               std::to_string(bytes) + " bytes",
           {{"collective", model.collective}, {"largest_bytes", last}, {"bytes", bytes}}});
    }
  }
  return result;
}

CollectiveEstimate from_data(const CollectiveModel& model, std::int64_t bytes,
                             std::int64_t workers) {
  const std::int64_t measured = nearest_workers(model, workers);
  CollectiveEstimate result = at_measured(model, bytes, measured);
  if (measured == workers) {
    result.errors = band_for_size(model.errors, bytes, /*extrapolated=*/!result.facts.empty());
    return result;
  }
  std::string note = model.collective + " on " + std::to_string(workers) + " workers taken from " +
                     std::to_string(measured) + " measured workers";
  if (model.collective != "send_recv") {
    result.duration_us *= all_reduce_traffic(workers) / all_reduce_traffic(measured);
    note += ", scaled by 2(n-1)/n";
  }
  result.facts.add(
      {FactKind::collective_workers_scaled,
       note,
       {{"collective", model.collective}, {"workers", workers}, {"measured_workers", measured}}});
  return result;
}

const CollectiveModel* find_model(const std::vector<CollectiveModel>& models,
                                  const HardwareSpec& hardware, std::string_view collective) {
  for (const CollectiveModel& model : models) {
    if (model.hardware == hardware.name && model.collective == collective) {
      return &model;
    }
  }
  return nullptr;
}

// A GPU of the same architecture and link, which runs the same kernel over a similar fabric.
const CollectiveModel* find_stand_in(const std::vector<CollectiveModel>& models,
                                     const HardwareSpec& hardware, std::string_view collective) {
  if (!hardware.interconnect) {
    return nullptr;
  }
  for (const CollectiveModel& model : models) {
    if (model.collective == collective && model.architecture == to_string(hardware.architecture) &&
        model.interconnect == to_string(*hardware.interconnect)) {
      return &model;
    }
  }
  return nullptr;
}

}  // namespace

void check_collective(std::string_view collective) {
  if (collective != "all_reduce" && collective != kCustomAllReduce && collective != "send_recv") {
    throw DataError("collective '" + std::string(collective) +
                    "' is unknown; expected all_reduce, custom_all_reduce or send_recv");
  }
}

std::string_view to_string(CollectiveKind kind) {
  return kind == CollectiveKind::forest ? "forest" : "monotone";
}

std::string_view to_string(CallStatistic statistic) {
  return statistic == CallStatistic::mean ? "mean" : "median";
}

CollectiveModel fit_model(CollectiveKind kind, const std::vector<CollectiveSample>& samples) {
  CollectiveModel model;
  if (kind == CollectiveKind::forest) {
    model.forest = fit_forest(samples);
    return model;
  }
  for (const auto& [workers, group] : by_workers(samples)) {
    model.curves.emplace(workers, fit_curve(group));
  }
  return model;
}

double evaluate(const CollectiveModel& model, std::int64_t bytes, std::int64_t workers) {
  return model.forest ? evaluate(*model.forest, bytes, workers)
                      : evaluate(model.curves.at(workers), static_cast<double>(bytes));
}

CollectiveEstimate CollectiveCatalog::estimate(const HardwareSpec& hardware,
                                               std::string_view collective, std::int64_t bytes,
                                               std::int64_t workers,
                                               std::int64_t custom_max_bytes) const {
  check_collective(collective);
  if (bytes <= 0) {
    throw DataError(std::string(collective) + ": message size is " + std::to_string(bytes) +
                    " bytes; expected at least 1");
  }
  if (workers < 1) {
    throw DataError(std::string(collective) + ": number of workers is " + std::to_string(workers) +
                    "; expected at least 1");
  }
  const CollectiveModel* model = find_model(models_, hardware, collective);
  if (rules_ == WorkerRules::published && model != nullptr && model->forest) {
    return at_measured(*model, bytes, workers);
  }
  if (collective == "send_recv") {
    workers = 2;
  }
  if (workers == 1) {
    return {0,
            {{FactKind::collective_one_worker,
              std::string(collective) + " on one worker: nothing is communicated, 0 us",
              {{"collective", std::string(collective)}}}}};
  }
  if (collective == "all_reduce") {
    return all_reduce(hardware, bytes, workers, custom_max_bytes);
  }
  return model != nullptr ? from_data(*model, bytes, workers)
                          : bandwidth_model(hardware, collective, bytes, workers);
}

CollectiveEstimate CollectiveCatalog::all_reduce(const HardwareSpec& hardware, std::int64_t bytes,
                                                 std::int64_t workers,
                                                 std::int64_t custom_max_bytes) const {
  const CollectiveModel* nccl = find_model(models_, hardware, "all_reduce");
  const CollectiveModel* own = find_model(models_, hardware, kCustomAllReduce);
  const CollectiveModel* custom =
      own != nullptr ? own : find_stand_in(models_, hardware, kCustomAllReduce);
  if (bytes <= custom_max_bytes && custom != nullptr) {
    CollectiveEstimate result = from_data(*custom, bytes, workers);
    if (own == nullptr) {
      result.facts.add(
          {FactKind::collective_borrowed,
           "custom all_reduce of " + hardware.name + " taken from " + custom->hardware,
           {{"collective", std::string(kCustomAllReduce)}, {"from_gpu", custom->hardware}}});
      result.errors.reset();
    }
    if (hardware.interconnect == Interconnect::pcie && nccl != nullptr) {
      const CollectiveEstimate other = from_data(*nccl, bytes, workers);
      return other.duration_us < result.duration_us ? other : result;
    }
    return result;
  }
  if (nccl != nullptr) {
    return from_data(*nccl, bytes, workers);
  }
  if (own != nullptr) {
    CollectiveEstimate result = from_data(*own, bytes, workers);
    result.facts.add({FactKind::collective_substituted,
                      "no measured NCCL all_reduce for " + hardware.name +
                          ": that of its engine is taken for all sizes",
                      {{"collective", std::string("all_reduce")}}});
    result.errors.reset();
    return result;
  }
  return bandwidth_model(hardware, "all_reduce", bytes, workers);
}

}  // namespace pw
