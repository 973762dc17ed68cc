#include <algorithm>
#include <cmath>

#include "pw/comparison.h"
#include "statistics.h"

namespace pw {
namespace {

// The rows of one method and engine that belong together.
struct Group {
  std::string scope;
  std::string name;
  std::vector<const ComparisonRow*> rows;
};

// One group per distinct name, in the order of the names; rows without a name are in none.
template <class NameOf>
void add_groups(std::vector<Group>& groups, const std::string& scope,
                const std::vector<const ComparisonRow*>& rows, NameOf&& name_of) {
  std::vector<Group> added;
  for (const ComparisonRow* row : rows) {
    const std::string name = name_of(*row);
    if (name.empty()) continue;
    auto group = std::find_if(added.begin(), added.end(),
                              [&](const Group& each) { return each.name == name; });
    if (group == added.end()) group = added.insert(added.end(), Group{scope, name, {}});
    group->rows.push_back(row);
  }
  std::sort(added.begin(), added.end(),
            [](const Group& a, const Group& b) { return a.name < b.name; });
  groups.insert(groups.end(), added.begin(), added.end());
}

std::vector<Group> groups_of(const std::vector<const ComparisonRow*>& rows) {
  std::vector<Group> groups{{"all", "", rows}};
  add_groups(groups, "gpu", rows, [](const ComparisonRow& row) { return row.name.gpu; });
  add_groups(groups, "model", rows, [](const ComparisonRow& row) { return row.name.model; });
  add_groups(groups, "seen", rows, [](const ComparisonRow& row) {
    return std::string(!row.gpu_seen ? "" : *row.gpu_seen ? "seen" : "unseen");
  });
  return groups;
}

// Empty when no case of the group is about the metric.
std::optional<ErrorSummary> summarise(const Group& group, Metric metric) {
  ErrorSummary summary;
  std::vector<double> absolute, relative;
  for (const ComparisonRow* row : group.rows) {
    if (!row->metrics[metric].covered) continue;
    if (const auto within = row->metrics[metric].within_band()) {
      ++summary.banded;
      summary.within_band += *within ? 1 : 0;
    }
    if (const auto error = row->metrics[metric].signed_error()) {
      relative.push_back(*error);
      absolute.push_back(std::fabs(*error));
    } else {
      ++summary.excluded;
    }
  }
  summary.n = absolute.size();
  if (summary.n + summary.excluded == 0) return std::nullopt;
  summary.method = group.rows.front()->method;
  summary.engine = group.rows.front()->name.engine;
  summary.scope = group.scope;
  summary.group = group.name;
  summary.metric = metric;
  if (summary.n == 0) return summary;
  summary.mean = mean(absolute);
  summary.median = median(absolute);
  summary.p90 = quantile(absolute, 0.9);
  summary.max = *std::max_element(absolute.begin(), absolute.end());
  summary.bias = mean(relative);
  if (summary.n > 1) {
    const auto [low, high] = bootstrap_mean_interval(absolute);
    summary.mean_low = low;
    summary.mean_high = high;
  }
  return summary;
}

}  // namespace

std::vector<ErrorSummary> summarise(const Comparison& comparison) {
  // Rows are sorted by method and engine.
  std::vector<std::vector<const ComparisonRow*>> parts;
  for (const ComparisonRow& row : comparison.rows) {
    const bool same = !parts.empty() && parts.back().front()->method == row.method &&
                      parts.back().front()->name.engine == row.name.engine;
    if (!same) parts.emplace_back();
    parts.back().push_back(&row);
  }
  std::vector<ErrorSummary> summaries;
  for (const auto& rows : parts) {
    for (const Group& group : groups_of(rows)) {
      for (const Metric metric : kMetrics) {
        if (const auto summary = summarise(group, metric)) summaries.push_back(*summary);
      }
    }
  }
  return summaries;
}

}  // namespace pw
