#include "compare/html_charts.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "compare/format.h"
#include "compare/svg.h"

namespace pw {
namespace {

// The ten colours of Petroff, "Accessible color sequences for data visualization" (2021), chosen to
// stay apart under the three colour vision deficiencies.
constexpr std::array<const char*, 10> kMethodColors{"#3f90da", "#ffa90e", "#bd1f01", "#94a4a2",
                                                    "#832db6", "#a96b59", "#e76300", "#b9ac70",
                                                    "#717581", "#92dadd"};

struct MarkerName {
  Marker marker;
  const char* name;
};
// One for each time that the colours are used up.
constexpr std::array<MarkerName, 4> kMarkers{{{Marker::circle, "circles"},
                                              {Marker::square, "squares"},
                                              {Marker::diamond, "diamonds"},
                                              {Marker::triangle, "triangles"}}};

const MarkerName& method_marker(std::size_t index) {
  return kMarkers[index / kMethodColors.size() % kMarkers.size()];
}

std::size_t method_index(const Comparison& comparison, const std::string& method) {
  const auto& names = comparison.methods;
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), method) - names.begin());
}

struct Frame {
  double left, top, right, bottom;
};

// The axes of the scatter chart: grid lines, tick labels and the names of the axes.
std::string scatter_frame(const Frame& frame, const Axis& x, const Axis& y) {
  std::string svg;
  for (const double tick : x.ticks()) {
    svg += svg_line(x.at(tick), frame.top, x.at(tick), frame.bottom, "grid");
    svg += svg_text(x.at(tick), frame.bottom + 16, Anchor::middle, tick_label(tick));
  }
  for (const double tick : y.ticks()) {
    svg += svg_line(frame.left, y.at(tick), frame.right, y.at(tick), "grid");
    svg += svg_text(frame.left - 6, y.at(tick) + 4, Anchor::end, tick_label(tick));
  }
  svg +=
      svg_text((frame.left + frame.right) / 2, frame.bottom + 34, Anchor::middle, "measured, ms");
  svg += svg_text(2, frame.top - 10, Anchor::start, "predicted, ms");
  return svg;
}

// The strip between 0.9 and 1.1 times the measured value, and equality. `id` is the chart's own.
std::string ten_percent_band(const Axis& x, const Axis& y, const std::string& id) {
  const auto point = [&](double value, double factor) {
    return svg_number(x.at(value)) + "," + svg_number(y.at(value * factor)) + " ";
  };
  return "<clipPath id=\"" + id + "\"><rect x=\"" + svg_number(x.from) + "\" y=\"" +
         svg_number(y.to) + "\" width=\"" + svg_number(x.to - x.from) + "\" height=\"" +
         svg_number(y.from - y.to) + "\"/></clipPath>\n<polygon class=\"band\" clip-path=\"url(#" +
         id + ")\" points=\"" + point(x.low, 1.1) + point(x.high, 1.1) + point(x.high, 0.9) +
         point(x.low, 0.9) + "\"/>\n" + svg_line(x.from, y.at(x.low), x.to, y.at(x.high), "equal");
}

std::string group_bars(const Comparison& comparison, const std::vector<const ErrorSummary*>& group,
                       double left, double width, const Axis& y) {
  std::string svg;
  const double bar = width / static_cast<double>(comparison.methods.size());
  for (const ErrorSummary* s : group) {
    const std::size_t method = method_index(comparison, s->method);
    const double x = left + bar * static_cast<double>(method);
    const bool cut = s->mean > y.high;
    const double top = y.at(cut ? y.high : s->mean);
    svg += svg_rectangle(x, top, std::max(1.0, bar - 1), y.from - top, method_color(method),
                         s->method + ", " + s->group + ": mean error " + fixed(s->mean, 2) +
                             " % of " + std::to_string(s->n) + " cases");
    if (cut) {
      svg += svg_text(x + bar / 2, y.to - 4, Anchor::middle, fixed(s->mean, 0), "small");
    }
  }
  return svg;
}

struct OperatorColor {
  std::string name, color;
};

// Shades of one hue for the operators of a group, so that the groups stand apart.
std::vector<OperatorColor> operator_colors(const Comparison& comparison,
                                           const std::string& method) {
  static const std::array<const char*, 6> kGemm{"#08306b", "#2171b5", "#4292c6",
                                                "#6baed6", "#9ecae1", "#c6dbef"};
  static const std::array<const char*, 3> kCommunication{"#54278f", "#9e9ac8", "#cbc9e2"};
  static const std::array<const char*, 6> kEngine{"#543005", "#7f4909", "#a6691a",
                                                  "#c58c3b", "#dcb468", "#eed9a4"};
  static constexpr char kHost[] = "#c51b7d";  // no kernel: it must stand out
  static const std::array<const char*, 4> kOther{"#e6550d", "#31a354", "#a1d99b", "#bdbdbd"};
  std::size_t gemms = 0, collectives = 0, engines = 0, others = 0;
  std::vector<OperatorColor> colors;
  for (const ComparisonRow& row : comparison.rows) {
    if (row.method != method) continue;
    for (const OperatorTotal& total : row.operators) {
      if (std::any_of(colors.begin(), colors.end(),
                      [&](const OperatorColor& each) { return each.name == total.name; })) {
        continue;
      }
      const char* color = total.group == "gemm" ? kGemm[std::min(gemms++, kGemm.size() - 1)]
                          : total.group == "communication"
                              ? kCommunication[std::min(collectives++, kCommunication.size() - 1)]
                          : total.group == "engine" && total.name == "host" ? kHost
                          : total.group == "engine"
                              ? kEngine[std::min(engines++, kEngine.size() - 1)]
                              : kOther[std::min(others++, kOther.size() - 1)];
      colors.push_back({total.name, color});
    }
  }
  return colors;
}

double sum_of(const ComparisonRow& row, Metric metric) {
  double sum = 0;
  for (const OperatorTotal& total : row.operators) sum += total.ms[metric];
  return sum;
}

std::string share_bar(const ComparisonRow& row, Metric metric,
                      const std::vector<OperatorColor>& colors, double y, double left,
                      double width) {
  constexpr double kBarHeight = 13;
  const double sum = sum_of(row, metric);
  if (!(sum > 0)) return svg_text(left + 4, y + 11, Anchor::start, kNotAvailable);
  std::string svg;
  double x = left;
  for (const OperatorColor& color : colors) {
    for (const OperatorTotal& total : row.operators) {
      if (total.name != color.name || !(total.ms[metric] > 0)) continue;
      const double share = total.ms[metric] / sum;
      svg += svg_rectangle(x, y, share * width, kBarHeight, color.color,
                           case_title(row) + ", " + std::string(to_string(metric)) + ": " +
                               total.name + " " + fixed(total.ms[metric], 3) + " ms, " +
                               fixed(100 * share, 1) + " %");
      x += share * width;
    }
  }
  return svg + svg_text(left + width + 6, y + 11, Anchor::start, fixed(sum, sum < 100 ? 1 : 0));
}

}  // namespace

std::string method_color(std::size_t index) { return kMethodColors[index % kMethodColors.size()]; }

std::string method_legend(const std::vector<std::string>& methods) {
  std::vector<std::pair<std::string, std::string>> entries;
  for (std::size_t i = 0; i < methods.size(); ++i) {
    const MarkerName& shape = method_marker(i);
    entries.emplace_back(method_color(i), shape.marker == Marker::circle
                                              ? methods[i]
                                              : methods[i] + " (" + shape.name + ")");
  }
  return legend(entries);
}

std::string case_title(const ComparisonRow& row) {
  if (!row.name.told()) return row.name.label;
  return short_name(row.name) + ", " + row.name.gpu + ", tp " + std::to_string(row.name.tp) +
         (row.name.pp > 1 ? ", pp " + std::to_string(row.name.pp) : "");
}

std::string legend(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string html = "<ul class=\"legend\">";
  for (const auto& [color, name] : entries) {
    html += "<li style=\"border-left-color:" + color + "\">" + escape_html(name) + "</li>";
  }
  return html + "</ul>\n";
}

std::string scatter_chart(const Comparison& comparison, Metric metric) {
  const Frame frame{64, 26, 344, 306};
  std::vector<double> measured, all;
  std::vector<const ComparisonRow*> rows;
  for (const ComparisonRow& row : comparison.rows) {
    const MetricComparison& m = row.metrics[metric];
    if (!m.signed_error()) continue;
    rows.push_back(&row);
    measured.push_back(*m.measured_ms);
    all.insert(all.end(), {*m.predicted_ms, *m.measured_ms});
  }
  if (rows.empty()) return "";
  const std::string name(to_string(metric));
  const Axis x = log_axis(measured, frame.left, frame.right);
  const Axis y = log_axis(all, frame.bottom, frame.top);
  std::string svg = scatter_frame(frame, x, y) + ten_percent_band(x, y, "frame-" + name);
  // The first method last, so that it lies on top.
  std::reverse(rows.begin(), rows.end());
  for (const ComparisonRow* row : rows) {
    const MetricComparison& m = row->metrics[metric];
    const std::size_t method = method_index(comparison, row->method);
    svg += svg_marker(method_marker(method).marker, x.at(*m.measured_ms), y.at(*m.predicted_ms),
                      3.5, method_color(method),
                      row->method + ": " + case_title(*row) + ": predicted " +
                          fixed(m.predicted_ms, 2) + " ms, measured " + fixed(m.measured_ms, 2) +
                          " ms, error " + fixed(m.signed_error(), 2) + " %");
  }
  return svg_image(360, 350, "Predicted over measured " + name + " time",
                   std::to_string(rows.size()) +
                       " cases; the shaded strip is within 10 % of the measured value, both axes "
                       "are logarithmic",
                   svg);
}

std::string error_bar_chart(const Comparison& comparison,
                            const std::vector<ErrorSummary>& summaries, const std::string& engine,
                            Metric metric) {
  std::vector<std::pair<std::string, std::vector<const ErrorSummary*>>> groups;
  double most = 0;
  for (const ErrorSummary& s : summaries) {
    if (s.scope != "gpu" || s.engine != engine || s.metric != metric || s.n == 0) continue;
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& each) { return each.first == s.group; });
    if (group == groups.end()) group = groups.insert(groups.end(), {s.group, {}});
    group->second.push_back(&s);
    most = std::max(most, s.mean);
  }
  if (groups.empty()) return "";
  std::sort(groups.begin(), groups.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  const Frame frame{46, 24, 1060, 190};
  constexpr double kMostShown = 100;  // longer bars are cut and labelled
  const Axis y = linear_axis(std::min(most, kMostShown), frame.bottom, frame.top);
  std::string svg;
  for (const double tick : y.ticks()) {
    svg += svg_line(frame.left, y.at(tick), frame.right, y.at(tick), "grid");
    svg += svg_text(frame.left - 6, y.at(tick) + 4, Anchor::end, tick_label(tick));
  }
  svg += svg_text(frame.left - 6, frame.top - 9, Anchor::end, "%");
  const double slot = (frame.right - frame.left) / static_cast<double>(groups.size());
  // Few groups would make bars that are wider than they are high.
  const double width = std::min(slot * 0.82, 40.0 * static_cast<double>(comparison.methods.size()));
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const double middle = frame.left + slot * (static_cast<double>(i) + 0.5);
    svg += group_bars(comparison, groups[i].second, middle - width / 2, width, y);
    svg += svg_text(middle, frame.bottom + 16, Anchor::middle, groups[i].first);
  }
  const std::string name = engine_title(engine) + " " + std::string(to_string(metric));
  return svg_image(1070, 215, "Mean error by GPU: " + name,
                   "Bars of the mean absolute error in % by GPU, one per method", svg);
}

std::string operator_share_chart(const Comparison& comparison, const std::string& method) {
  const std::vector<OperatorColor> colors = operator_colors(comparison, method);
  if (colors.empty()) return "";
  constexpr double kLabel = 330, kBar = 310, kGap = 60, kRow = 18, kTop = 26;
  std::string svg = svg_text(kLabel, 16, Anchor::start, "prefill, ms at the right", "strong");
  svg += svg_text(kLabel + kBar + kGap, 16, Anchor::start, "average decode step, ms at the right",
                  "strong");
  double y = kTop;
  for (const ComparisonRow& row : comparison.rows) {
    if (row.method != method || row.operators.empty()) continue;
    svg += svg_text(kLabel - 8, y + 11, Anchor::end, case_title(row));
    svg += share_bar(row, Metric::prefill, colors, y, kLabel, kBar);
    svg += share_bar(row, Metric::decode, colors, y, kLabel + kBar + kGap, kBar);
    y += kRow;
  }
  std::vector<std::pair<std::string, std::string>> entries;
  for (const OperatorColor& color : colors) entries.emplace_back(color.color, color.name);
  return legend(entries) + svg_image(1070, y + 6, "Where the predicted time goes: " + method,
                                     "Bars of 100 % by case: the share of each operator in "
                                     "prefill and in an average decode step",
                                     svg);
}

}  // namespace pw
