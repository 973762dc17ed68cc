#include "pw/prediction_diff.h"

#include <algorithm>

#include "compare/format.h"

namespace pw {
namespace {

// One operator in both predictions; a null pointer where it has none.
struct Pair {
  std::string group, name;
  const OperatorTotal* a = nullptr;
  const OperatorTotal* b = nullptr;
};

std::vector<Pair> pairs_of(const PredictedCase& a, const PredictedCase& b) {
  std::vector<Pair> pairs;
  const auto add = [&](const std::vector<OperatorTotal>& totals,
                       const OperatorTotal* Pair::*member) {
    for (const OperatorTotal& total : totals) {
      auto pair = std::find_if(pairs.begin(), pairs.end(), [&](const Pair& each) {
        return each.group == total.group && each.name == total.name;
      });
      if (pair == pairs.end()) {
        pair = pairs.insert(pairs.end(), Pair{total.group, total.name, nullptr, nullptr});
      }
      (*pair).*member = &total;
    }
  };
  add(a.operators, &Pair::a);
  add(b.operators, &Pair::b);
  return pairs;
}

std::vector<std::string> line(const std::string& name, std::optional<double> a,
                              std::optional<double> b) {
  std::optional<double> difference, percent;
  if (a && b) difference = *b - *a;
  if (difference && *a > 0) percent = *difference / *a * 100;
  return {name, fixed(a, 4), fixed(b, 4), fixed(difference, 4), fixed(percent, 2)};
}

TextTable metric_table(const PredictedCase& a, const PredictedCase& b, Metric metric) {
  TextTable table{{"operator", "A ms", "B ms", "B - A ms", "%"}};
  for (const Pair& pair : pairs_of(a, b)) {
    const auto time = [&](const OperatorTotal* total) {
      return total != nullptr ? std::optional(total->ms[metric]) : std::nullopt;
    };
    const std::string name = pair.group == pair.name ? pair.name : pair.group + " " + pair.name;
    table.push_back(line(name, time(pair.a), time(pair.b)));
  }
  table.push_back(line("sum", a.ms[metric], b.ms[metric]));
  return table;
}

}  // namespace

std::string prediction_diff_text(const PredictedCase& a, const PredictedCase& b) {
  std::string text = "A: " + a.file.string() + "\nB: " + b.file.string() + "\n";
  for (const Metric metric : kMetrics) {
    const std::string title = metric == Metric::decode    ? "decode, average step"
                              : metric == Metric::prefill ? "prefill"
                                                          : "total";
    text += "\n" + title + "\n" + plain_table(metric_table(a, b, metric), 1, "  ");
  }
  return text;
}

}  // namespace pw
