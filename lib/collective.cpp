#include "pw/collective.h"

#include <cstdlib>
#include <sstream>

#include "pw/fields.h"

namespace pw {
namespace {

// The last knot is the mean size of its bin, up to 5 % below the largest measured size.
constexpr double kExtrapolationMargin = 1.05;

void add_note(std::string& note, const std::string& text) {
  note += note.empty() ? text : "; " + text;
}

std::string number_text(double value) {
  std::ostringstream text;
  text.precision(15);
  text << value;
  return text.str();
}

// The measured worker count that answers for `workers`.
std::int64_t nearest_workers(const CollectiveModel& model, std::int64_t workers) {
  std::int64_t nearest = model.curves.begin()->first;
  for (const auto& [measured, curve] : model.curves) {  // ascending: the larger wins a tie
    if (std::abs(measured - workers) <= std::abs(nearest - workers)) {
      nearest = measured;
    }
  }
  return nearest;
}

CollectiveEstimate from_curve(const CollectiveCurve& curve, std::int64_t bytes) {
  CollectiveEstimate result;
  result.duration_us = evaluate(curve, static_cast<double>(bytes));
  if (static_cast<double>(bytes) > curve.bytes.back() * kExtrapolationMargin) {
    add_note(result.note, "extrapolated from " + number_text(curve.bytes.back()) + " to " +
                              std::to_string(bytes) + " bytes");
  }
  return result;
}

CollectiveEstimate from_data(const CollectiveModel& model, std::int64_t bytes,
                             std::int64_t workers) {
  const std::int64_t measured = nearest_workers(model, workers);
  CollectiveEstimate result = from_curve(model.curves.at(measured), bytes);
  if (measured == workers) {
    return result;
  }
  std::string note = model.collective + " on " + std::to_string(workers) + " workers taken from " +
                     std::to_string(measured) + " measured workers";
  if (model.collective == "all_reduce") {
    result.duration_us *= all_reduce_traffic(workers) / all_reduce_traffic(measured);
    note += ", scaled by 2(n-1)/n";
  }
  add_note(result.note, note);
  return result;
}

}  // namespace

void check_collective(std::string_view collective) {
  if (collective != "all_reduce" && collective != "send_recv") {
    throw DataError("collective '" + std::string(collective) +
                    "' is unknown; expected all_reduce or send_recv");
  }
}

CollectiveEstimate CollectiveCatalog::estimate(const HardwareSpec& hardware,
                                               std::string_view collective, std::int64_t bytes,
                                               std::int64_t workers) const {
  check_collective(collective);
  if (bytes <= 0) {
    throw DataError(std::string(collective) + ": message size is " + std::to_string(bytes) +
                    " bytes; expected at least 1");
  }
  if (workers < 1) {
    throw DataError(std::string(collective) + ": number of workers is " + std::to_string(workers) +
                    "; expected at least 1");
  }
  if (collective == "send_recv") {
    workers = 2;
  }
  if (workers == 1) {
    return {0, std::string(collective) + " on one worker: nothing is communicated, 0 us"};
  }
  for (const CollectiveModel& model : models_) {
    if (model.hardware == hardware.name && model.collective == collective) {
      return from_data(model, bytes, workers);
    }
  }
  return bandwidth_model(hardware, collective, bytes, workers);
}

}  // namespace pw
