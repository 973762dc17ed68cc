#include "compare/format.h"

#include <algorithm>
#include <cstdio>

#include "comma_list.h"
#include "io/json_file.h"

namespace pw {
namespace {

// Characters, where a UTF-8 sequence counts once.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string interval(const ErrorSummary& s) {
  if (!s.mean_low) return kNotAvailable;
  return fixed(s.mean_low, 2) + " - " + fixed(s.mean_high, 2);
}

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

// "median of 5", or by metric where one has fewer usable runs.
std::string rule_of_case(const ComparisonRow& row) {
  std::vector<std::string> rules, named;
  for (const Metric metric : kMetrics) {
    const MetricComparison& m = row.metrics[metric];
    if (!m.covered) continue;
    add_once(rules, m.rule);
    named.push_back(std::string(to_string(metric)) + " " + m.rule);
  }
  return rules.size() == 1 ? rules.front() : comma_list(named);
}

}  // namespace

std::string short_name(const CaseName& name) {
  if (!name.told()) return name.label;
  return name.model + (name.engine == "vllm" ? " vllm " : " ") + name.trace;
}

std::string fixed(std::optional<double> value, int decimals) {
  if (!value) return kNotAvailable;
  char text[64];
  const double rounded = round_decimals(*value, decimals);
  std::snprintf(text, sizeof text, "%.*f", decimals, rounded == 0 ? 0.0 : rounded);  // no "-0.00"
  return text;
}

std::string shortest(std::optional<double> value, int decimals) {
  return value ? python_repr(round_decimals(*value, decimals)) : kNotAvailable;
}

std::string engine_title(std::string_view engine) {
  if (engine == "sglang") return "SGLang";
  if (engine == "vllm") return "vLLM";
  return std::string(engine);
}

std::string scope_title(std::string_view scope) {
  if (scope == "gpu") return "GPU";
  if (scope == "seen") return "GPU in training or not";
  return std::string(scope);
}

std::string plain_table(const TextTable& table, std::size_t left, const std::string& indent) {
  std::vector<std::size_t> widths;
  for (const auto& row : table) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string text;
  for (const auto& row : table) {
    std::string line = indent;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - width_of(row[i]), ' ');
      line += (i == 0 ? "" : "  ") + (i < left ? row[i] + padding : padding + row[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string markdown_table(const TextTable& table, std::size_t left) {
  std::string text;
  for (std::size_t r = 0; r < table.size(); ++r) {
    text += "|";
    for (const std::string& cell : table[r]) {
      text += ' ';
      for (const char c : cell) text += c == '|' ? "\\|" : std::string(1, c);
      text += " |";
    }
    text += "\n";
    if (r > 0) continue;
    text += "|";
    for (std::size_t i = 0; i < table[r].size(); ++i) text += i < left ? "---|" : "---:|";
    text += "\n";
  }
  return text;
}

TextTable overall_table(const std::vector<ErrorSummary>& summaries) {
  TextTable table{{"method", "engine", "phase", "mean %", "95 % interval", "median %", "p90 %",
                   "max %", "bias %", "n", "n/a"}};
  const bool banded = std::any_of(summaries.begin(), summaries.end(),
                                  [](const ErrorSummary& s) { return s.banded > 0; });
  if (banded) table.front().push_back("in p10-p90");
  for (const ErrorSummary& s : summaries) {
    if (s.scope != "all") continue;
    const auto number = [&](double value) {
      return s.n > 0 ? fixed(value, 2) : std::string(kNotAvailable);
    };
    table.push_back({s.method, engine_title(s.engine), std::string(to_string(s.metric)),
                     number(s.mean), interval(s), number(s.median), number(s.p90), number(s.max),
                     number(s.bias), std::to_string(s.n), std::to_string(s.excluded)});
    if (banded) {
      table.back().push_back(s.banded == 0 ? kNotAvailable
                                           : std::to_string(s.within_band) + " of " +
                                                 std::to_string(s.banded));
    }
  }
  return table;
}

TextTable mean_error_table(const Comparison& comparison, const std::vector<ErrorSummary>& summaries,
                           std::string_view scope, std::string_view engine, Metric metric) {
  std::vector<std::string> groups;
  const auto wanted = [&](const ErrorSummary& s) {
    return s.scope == scope && s.engine == engine && s.metric == metric;
  };
  for (const ErrorSummary& s : summaries) {
    if (wanted(s)) add_once(groups, s.group);
  }
  if (groups.empty()) return {};
  std::sort(groups.begin(), groups.end());
  TextTable table{{scope_title(scope)}};
  for (const std::string& method : comparison.methods) table.front().push_back(method);
  for (const std::string& group : groups) {
    std::vector<std::string> line{group};
    for (const std::string& method : comparison.methods) {
      const auto found =
          std::find_if(summaries.begin(), summaries.end(), [&](const ErrorSummary& s) {
            return wanted(s) && s.group == group && s.method == method && s.n > 0;
          });
      line.push_back(found == summaries.end() ? kNotAvailable : fixed(found->mean, 2));
    }
    table.push_back(std::move(line));
  }
  return table;
}

TextTable case_table(const Comparison& comparison) {
  TextTable table{{"method", "case", "GPU", "tp", "pp", "runs"}};
  for (const Metric metric : kMetrics) {
    const std::string name(to_string(metric));
    for (const char* column : {" predicted ms", " measured ms", " error %"}) {
      table.front().push_back(name + column);
    }
  }
  for (const ComparisonRow& row : comparison.rows) {
    std::vector<std::string> line{row.method,
                                  short_name(row.name),
                                  row.name.gpu,
                                  std::to_string(row.name.tp),
                                  std::to_string(row.name.pp),
                                  rule_of_case(row)};
    for (const Metric metric : kMetrics) {
      const MetricComparison& m = row.metrics[metric];
      line.push_back(fixed(m.predicted_ms, 2));
      line.push_back(fixed(m.measured_ms, 2));
      line.push_back(fixed(m.signed_error(), 2));
    }
    table.push_back(std::move(line));
  }
  return table;
}

TextTable phase_table(const Comparison& comparison) {
  TextTable table{{"method", "case", "GPU", "phase", "predicted ms", "measured ms", "error %",
                   "measured min - max", "value"}};
  for (const ComparisonRow& row : comparison.rows) {
    for (const Metric metric : kMetrics) {
      const MetricComparison& m = row.metrics[metric];
      if (!m.covered) continue;
      table.push_back(
          {row.method, short_name(row.name), row.name.gpu, std::string(to_string(metric)),
           fixed(m.predicted_ms, 2), fixed(m.measured_ms, 2), fixed(m.signed_error(), 2),
           m.min_ms ? fixed(m.min_ms, 2) + " - " + fixed(m.max_ms, 2) : kNotAvailable, m.rule});
    }
  }
  return table;
}

std::string describe(RunRule rule) {
  switch (rule) {
    case RunRule::median:
      return "median of the runs of each case, by metric";
    case RunRule::mean:
      return "mean of the runs of each case, by metric";
    case RunRule::best:
      return "the best of the runs of each case, that is the one closest to the prediction: "
             "flatters every method";
    case RunRule::worst:
      return "the worst of the runs of each case, that is the one farthest from the prediction";
    case RunRule::without_first:
      return "median of the runs of each case without the first one, by metric";
  }
  return "";
}

std::vector<std::string> engines_of(const Comparison& comparison) {
  std::vector<std::string> engines;
  for (const ComparisonRow& row : comparison.rows) add_once(engines, row.name.engine);
  return engines;
}

}  // namespace pw
