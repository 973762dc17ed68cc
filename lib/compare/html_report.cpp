#include "compare/format.h"
#include "compare/html_charts.h"
#include "compare/html_table.h"
#include "compare/svg.h"
#include "pw/comparison.h"

namespace pw {
namespace {

constexpr char kStyle[] = R"css(
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, "Segoe UI", Roboto, "Liberation Sans", sans-serif; color: #1c1c1c;
  background: #fff; max-width: 1160px; margin: 2rem auto; padding: 0 1.25rem; }
h1 { font-size: 1.7rem; margin: 0 0 .3rem; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .5rem; border-bottom: 1px solid #d0d0d0; padding-bottom: .2rem; }
h3 { font-size: 1rem; margin: 1.2rem 0 .2rem; }
p { max-width: 75ch; margin: .3rem 0 .8rem; }
svg { display: block; width: 100%; height: auto; font: 11px system-ui, "Liberation Sans", sans-serif; }
svg text { fill: #333; } svg .strong { font-weight: 600; } svg .small { font-size: 9px; }
svg .grid { stroke: #e4e4e4; } svg .equal { stroke: #777; stroke-dasharray: 4 3; }
svg .band { fill: #e3ecd9; } svg circle { fill-opacity: .75; stroke: #fff; stroke-width: .5; }
svg rect { stroke: #fff; stroke-width: .4; }
.panels { display: grid; grid-template-columns: repeat(auto-fit, minmax(300px, 370px)); gap: 1rem; }
figure { margin: 0; } figcaption { font-weight: 600; }
.legend { list-style: none; padding: 0; margin: .3rem 0 .6rem; display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; }
.legend li { border-left: 12px solid; padding-left: .4rem; line-height: 1.1; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .84rem; font-variant-numeric: tabular-nums; }
table.sortable { font-size: .76rem; } .sortable th, .sortable td { padding: .16rem .38rem; }
caption { text-align: left; color: #555; padding-bottom: .3rem; }
th, td { text-align: right; padding: .18rem .55rem; border-bottom: 1px solid #e6e6e6; white-space: nowrap; }
th { white-space: normal; vertical-align: bottom; border-bottom: 2px solid #999; }
.left { text-align: left; } td.mark { border-left: 5px solid; }
td.medium { background: #fff1da; } td.large { background: #fbd9cc; }
th.sorts { cursor: pointer; text-decoration: underline dotted; }
details { margin: .6rem 0; } summary { cursor: pointer; }
@media print {
  body { margin: 0; max-width: none; font-size: 10pt; }
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  .panels { grid-template-columns: repeat(3, 1fr); } .wide { overflow: visible; }
  table { font-size: 7.5pt; } table.sortable { font-size: 6pt; }
  th, td, .sortable th, .sortable td { padding: .08rem .2rem; }
  figure, tr { break-inside: avoid; } h2, h3, .legend { break-after: avoid; }
}
)css";

// Sorts the table by the column whose head is clicked; numbers by value, n/a last.
constexpr char kScript[] = R"js(
document.querySelectorAll("table.sortable").forEach(function (table) {
  var body = table.tBodies[0];
  function value(row, column) {
    var text = row.cells[column].textContent;
    if (text === "n/a") return null;
    return text !== "" && !isNaN(text) ? Number(text) : text;
  }
  Array.from(table.tHead.rows[0].cells).forEach(function (head, column) {
    head.classList.add("sorts");
    head.tabIndex = 0;
    function sort() {
      var up = head.getAttribute("aria-sort") !== "ascending";
      Array.from(table.tHead.rows[0].cells).forEach(function (h) { h.removeAttribute("aria-sort"); });
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      Array.from(body.rows).sort(function (a, b) {
        var x = value(a, column), y = value(b, column);
        if (x === null || y === null) return (x === null) - (y === null);
        var order = x < y ? -1 : x > y ? 1 : 0;
        return up ? order : -order;
      }).forEach(function (row) { body.appendChild(row); });
    }
    head.addEventListener("click", sort);
    head.addEventListener("keydown", function (event) { if (event.key === "Enter") sort(); });
  });
});
)js";

std::string figure(const std::string& caption, const std::string& image) {
  return "<figure><figcaption>" + escape_html(caption) + "</figcaption>\n" + image + "</figure>\n";
}

std::string metric_title(Metric metric) {
  switch (metric) {
    case Metric::prefill:
      return "Prefill (time to the first token)";
    case Metric::decode:
      return "Decode (time per output token)";
    case Metric::total:
      return "Total";
  }
  return "";
}

std::string scatter_section(const Comparison& comparison, const std::string& methods) {
  std::string panels;
  for (const Metric metric : kMetrics) {
    const std::string chart = scatter_chart(comparison, metric);
    if (!chart.empty()) panels += figure(metric_title(metric), chart);
  }
  if (panels.empty()) return "";
  return "<h2>Predicted over measured time</h2>\n<p>One point per case. On the dashed line the two "
         "are equal; the strip is within 10 % of the measured value. The values of a point show "
         "when the pointer rests on it.</p>\n" +
         methods + "<div class=\"panels\">\n" + panels + "</div>\n";
}

std::string error_section(const Comparison& comparison, const std::vector<ErrorSummary>& summaries,
                          const std::string& methods) {
  std::string figures, tables;
  for (const std::string& engine : engines_of(comparison)) {
    for (const Metric metric : kMetrics) {
      const std::string title = engine_title(engine) + ": " + metric_title(metric);
      const std::string chart = error_bar_chart(comparison, summaries, engine, metric);
      if (chart.empty()) continue;
      figures += figure(title, chart);
      tables += html_table(mean_error_table(comparison, summaries, "gpu", engine, metric), 1,
                           title + ", mean error in %");
    }
  }
  if (figures.empty()) return "";
  return "<h2>Mean error by GPU and phase</h2>\n<p>Mean absolute error in % of the measured value. "
         "Bars above 100 % are cut and carry their value.</p>\n" +
         methods + figures + "<details><summary>The numbers</summary>\n" + tables + "</details>\n";
}

std::string operator_section(const Comparison& comparison) {
  std::string charts;
  for (const std::string& method : comparison.methods) {
    const std::string chart = operator_share_chart(comparison, method);
    if (chart.empty()) continue;
    charts += std::string("<details") + (charts.empty() ? " open" : "") + "><summary>" +
              escape_html(method) + "</summary>\n" + chart + "</details>\n";
  }
  if (charts.empty()) return "";
  return "<h2>Where the time goes</h2>\n<p>Shares of the predicted time by operator.</p>\n" +
         charts;
}

std::string list_section(const std::string& title, const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string html =
      "<h3>" + escape_html(title) + " (" + std::to_string(lines.size()) + ")</h3>\n<ul>\n";
  for (const std::string& line : lines) html += "<li>" + escape_html(line) + "</li>\n";
  return html + "</ul>\n";
}

}  // namespace

std::string comparison_html(const Comparison& comparison,
                            const std::vector<ErrorSummary>& summaries) {
  const std::string methods = method_legend(comparison.methods);
  const std::string notes = list_section("Values to check", comparison.notes) +
                            list_section("Excluded (n/a)", comparison.excluded) +
                            list_section("Unmatched or ambiguous", comparison.unmatched);
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<title>Predicted and measured latency</title>\n<style>" +
         std::string(kStyle) +
         "</style>\n</head>\n<body>\n<h1>Predicted and measured latency</h1>\n" +
         "<p>Errors in % of the measured value. Measured value: " +
         escape_html(describe(comparison.rule)) +
         ". Bias is the mean of signed errors, positive where predictions are too long; the "
         "interval is the 95 % bootstrap interval of the mean.</p>\n" +
         html_table(overall_table(summaries), 3, "All cases by method, engine and phase") +
         scatter_section(comparison, methods) + error_section(comparison, summaries, methods) +
         operator_section(comparison) + "<h2>Cases</h2>\n" + html_case_table(comparison) +
         (notes.empty() ? "" : "<h2>What is not in the numbers</h2>\n" + notes) + "<script>" +
         kScript + "</script>\n</body>\n</html>\n";
}

}  // namespace pw
