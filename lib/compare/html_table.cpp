#include "compare/html_table.h"

#include <cmath>

#include "compare/html_charts.h"
#include "compare/svg.h"

namespace pw {
namespace {

std::string cell(const std::string& name, bool left, const std::string& text,
                 const std::string& attributes = "") {
  return "<" + name + (left ? " class=\"left\"" : "") + attributes + ">" + escape_html(text) +
         "</" + name + ">";
}

// Shaded from 10 % on, more from 25 % on.
std::string error_cell(std::optional<double> error) {
  const double size = error ? std::fabs(*error) : 0;
  const char* shade = size >= 25 ? " class=\"large\"" : size >= 10 ? " class=\"medium\"" : "";
  return "<td" + std::string(shade) + ">" + fixed(error, 2) + "</td>";
}

std::string header_row() {
  std::string html = "<thead><tr>";
  for (const char* name : {"method", "engine", "model", "trace", "GPU"}) {
    html += cell("th", true, name, " scope=\"col\"");
  }
  for (const char* name : {"tp", "pp", "runs"}) html += cell("th", false, name, " scope=\"col\"");
  for (const Metric metric : kMetrics) {
    for (const char* column : {" predicted, ms", " measured, ms", " error, %"}) {
      html += cell("th", false, std::string(to_string(metric)) + column, " scope=\"col\"");
    }
  }
  return html + "</tr></thead>\n";
}

std::string body_row(const Comparison& comparison, const ComparisonRow& row) {
  std::size_t method = 0;
  while (comparison.methods[method] != row.method) ++method;
  std::string html =
      "<tr><td class=\"left mark\" style=\"border-left-color:" + method_color(method) + "\">" +
      escape_html(row.method) + "</td>";
  for (const std::string& text :
       {engine_title(row.name.engine), row.name.told() ? row.name.model : row.name.label,
        row.name.trace, row.name.gpu}) {
    html += cell("td", true, text);
  }
  for (const std::string& text :
       {std::to_string(row.name.tp), std::to_string(row.name.pp), std::to_string(row.runs)}) {
    html += cell("td", false, text);
  }
  for (const MetricComparison& m : row.metrics.values) {
    html += cell("td", false, fixed(m.predicted_ms, 2)) +
            cell("td", false, fixed(m.measured_ms, 2)) + error_cell(m.signed_error());
  }
  return html + "</tr>\n";
}

}  // namespace

std::string html_table(const TextTable& table, std::size_t left, const std::string& caption) {
  std::string html = "<div class=\"wide\"><table><caption>" + escape_html(caption) + "</caption>";
  for (std::size_t r = 0; r < table.size(); ++r) {
    html += r == 0 ? "<thead><tr>" : r == 1 ? "<tbody><tr>" : "<tr>";
    for (std::size_t i = 0; i < table[r].size(); ++i) {
      html += cell(r == 0 ? "th" : "td", i < left, table[r][i], r == 0 ? " scope=\"col\"" : "");
    }
    html += r == 0 ? "</tr></thead>\n" : "</tr>\n";
  }
  return html + (table.size() > 1 ? "</tbody>" : "") + "</table></div>\n";
}

std::string html_case_table(const Comparison& comparison) {
  std::string html =
      "<div class=\"wide\"><table class=\"sortable\"><caption>Errors are signed: positive where "
      "the prediction is too long. n/a: a value is missing or unusable.</caption>" +
      header_row() + "<tbody>\n";
  for (const ComparisonRow& row : comparison.rows) html += body_row(comparison, row);
  return html + "</tbody></table></div>\n";
}

}  // namespace pw
