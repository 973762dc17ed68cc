#include <algorithm>
#include <numeric>
#include <set>

#include "comma_list.h"
#include "io/json_file.h"
#include "pw/profile_plan.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

constexpr char kMaxTokens[] = "max_tokens";
constexpr char kMaxContext[] = "max_context";
constexpr char kQueryLength[] = "q_length";
constexpr char kKvLength[] = "kv_length";
// A grid of more points is a mistake in the plan: at a tenth of a second each, a day.
constexpr std::size_t kMaxPoints = 1'000'000;

// Values of one or several columns that go together: "M": [1, 2] or "N,K": [[4096, 4096]].
struct Axis {
  std::vector<std::string> columns;
  std::vector<std::vector<Json>> values;  // one per column
};

struct Grid {
  std::vector<Axis> axes;
  std::int64_t max_tokens = INT64_MAX;   // rows of an operator: M, seq, or all new tokens
  std::int64_t max_context = INT64_MAX;  // of attention: keys of all requests
};

std::vector<std::string> split_names(const std::string& names) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= names.size();) {
    const std::size_t end = std::min(names.find(',', begin), names.size());
    parts.push_back(names.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// The columns that axes may give. Attention problems of a plan have requests of one length.
std::vector<std::string> axis_columns(const OperatorFamily& family) {
  std::vector<std::string> columns;
  for (const std::string_view column : family.problem_columns) {
    columns.emplace_back(column == "q_lengths"    ? kQueryLength
                         : column == "kv_lengths" ? kKvLength
                                                  : column);
  }
  return columns;
}

Axis read_axis(const std::string& names, const Json& values, const std::string& where) {
  Axis axis{split_names(names), {}};
  if (!values.is_array() || values.empty()) {
    throw DataError(where + " is " + values.dump() + ", expected a list of values");
  }
  for (const Json& value : values) {
    if (axis.columns.size() == 1) {
      axis.values.push_back({value});
    } else if (value.is_array() && value.size() == axis.columns.size()) {
      axis.values.emplace_back(value.begin(), value.end());
    } else {
      throw DataError(where + " holds " + value.dump() + ", expected lists of " +
                      std::to_string(axis.columns.size()) + " values");
    }
  }
  return axis;
}

Grid read_grid(const Json& json, const OperatorFamily& family, const std::string& where) {
  if (!json.is_object()) {
    throw DataError(where + " is " + json.dump() + ", expected an object of axes");
  }
  const JsonFields fields(json, where);
  const std::vector<std::string> expected = axis_columns(family);
  Grid grid;
  std::vector<std::string> found;
  for (const auto& [name, values] : json.items()) {
    if (name == kMaxTokens || name == kMaxContext) {
      (name == kMaxTokens ? grid.max_tokens : grid.max_context) = integer_at_least(fields, name, 1);
      continue;
    }
    grid.axes.push_back(read_axis(name, values, where + "[\"" + name + "\"]"));
    const std::vector<std::string>& columns = grid.axes.back().columns;
    found.insert(found.end(), columns.begin(), columns.end());
  }
  if (!std::is_permutation(found.begin(), found.end(), expected.begin(), expected.end())) {
    throw DataError(where + " has the axes " + comma_list(found) + ", expected each of " +
                    comma_list(expected) + " once (and limits " + kMaxTokens + ", " + kMaxContext +
                    ")");
  }
  return grid;
}

Json repeated(const JsonFields& point, const char* length) {
  const std::int64_t requests = integer_at_least(point, "bs", 1);
  return Json(std::vector<std::int64_t>(static_cast<std::size_t>(requests),
                                        integer_at_least(point, length, 1)));
}

OperatorConfig read_point(Json point, const OperatorFamily& family, const std::string& where) {
  if (family.name == AttentionConfig::kName) {
    const JsonFields fields(point, where);
    Json q_lengths = repeated(fields, kQueryLength), kv_lengths = repeated(fields, kKvLength);
    point["q_lengths"] = std::move(q_lengths);
    point["kv_lengths"] = std::move(kv_lengths);
  }
  return family.read(JsonFields(point, where));
}

std::int64_t sum(const std::vector<std::int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

bool is_within(const OperatorConfig& config, const Grid& grid) {
  const auto* attention = std::get_if<AttentionConfig>(&config);
  return new_tokens(config) <= grid.max_tokens &&
         (attention == nullptr || sum(attention->kv_lengths) <= grid.max_context);
}

ProfilePlan grid_points(const Grid& grid, const OperatorFamily& family, const std::string& where) {
  std::vector<std::size_t> extents;
  std::size_t points = 1;
  for (const Axis& axis : grid.axes) {
    extents.push_back(axis.values.size());
    points *= axis.values.size();
    if (points > kMaxPoints) {
      throw DataError(where + " has more than " + std::to_string(kMaxPoints) +
                      " points, expected fewer values on its axes");
    }
  }
  ProfilePlan plan;
  for (std::size_t index : space_filling_order(extents)) {
    Json point = Json::object();
    for (std::size_t i = grid.axes.size(); i-- > 0;) {
      const Axis& axis = grid.axes[i];
      const std::vector<Json>& values = axis.values[index % extents[i]];
      index /= extents[i];
      for (std::size_t column = 0; column < axis.columns.size(); ++column) {
        point[axis.columns[column]] = values[column];
      }
    }
    OperatorConfig config = read_point(std::move(point), family, where);
    if (is_within(config, grid)) {
      plan.push_back(std::move(config));
    }
  }
  if (plan.empty()) {
    throw DataError(where + " has no point within its limits: raise them or add smaller values");
  }
  return plan;
}

// Several lists as one in which each is always equally far.
ProfilePlan interleaved(std::vector<ProfilePlan> lists) {
  struct Place {
    double progress;
    std::size_t list, index;
  };
  std::vector<Place> places;
  for (std::size_t list = 0; list < lists.size(); ++list) {
    for (std::size_t i = 0; i < lists[list].size(); ++i) {
      const double progress =
          (static_cast<double>(i) + 0.5) / static_cast<double>(lists[list].size());
      places.push_back({progress, list, i});
    }
  }
  std::stable_sort(places.begin(), places.end(),
                   [](const Place& a, const Place& b) { return a.progress < b.progress; });
  ProfilePlan merged;
  for (const Place& place : places) {
    merged.push_back(std::move(lists[place.list][place.index]));
  }
  return merged;
}

ProfilePlan without_duplicates(ProfilePlan plan) {
  std::set<std::vector<std::string>> seen;
  ProfilePlan distinct;
  for (OperatorConfig& config : plan) {
    if (seen.insert(problem_cells(config)).second) {
      distinct.push_back(std::move(config));
    }
  }
  return distinct;
}

ProfilePlan operator_points(const JsonFields& plan, const OperatorFamily& family,
                            const std::string& where) {
  std::vector<ProfilePlan> grids;
  for (const Json& grid : plan.array(family.name)) {
    const std::string place = where + "[" + std::to_string(grids.size()) + "]";
    grids.push_back(grid_points(read_grid(grid, family, place), family, place));
  }
  if (grids.empty()) {
    throw DataError(where + " is empty, expected a list of grids");
  }
  return without_duplicates(interleaved(std::move(grids)));
}

}  // namespace

ProfilePlan read_profile_plan(const fs::path& path, const std::vector<std::string>& operators) {
  const Json json = read_json(path);
  if (!json.is_object()) {
    throw DataError(path.string() + ": expected an object of operators");
  }
  const JsonFields plan(json, path.string());
  std::vector<std::string> names = operators;
  if (names.empty()) {
    for (const auto& [name, grids] : json.items()) {
      names.push_back(name);
    }
  }
  std::vector<ProfilePlan> lists;
  for (const std::string& name : names) {
    const OperatorFamily& family = operator_family(name);
    if (!plan.has(name)) {
      throw DataError(path.string() + " plans nothing for operator '" + name +
                      "': add grids for it or leave it out");
    }
    lists.push_back(operator_points(plan, family, plan.where(name)));
  }
  if (lists.empty()) {
    throw DataError(path.string() + ": expected grids for at least one operator");
  }
  return interleaved(std::move(lists));
}

}  // namespace pw
