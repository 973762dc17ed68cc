#include "compare/format.h"
#include "pw/comparison.h"

namespace pw {
namespace {

void append_list(std::string& text, const std::string& title,
                 const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  text += "\n### " + title + "\n\n";
  for (const std::string& line : lines) text += "- " + line + "\n";
}

}  // namespace

std::string comparison_markdown(const Comparison& comparison,
                                const std::vector<ErrorSummary>& summaries) {
  std::string text = "## Prediction errors\n\nIn % of the measured value. Measured value: " +
                     describe(comparison.rule) +
                     ".\nBias is the mean of signed errors, positive where predictions are too "
                     "long.\n\n";
  text += markdown_table(overall_table(summaries), 3);
  for (const char* scope : {"gpu", "model", "seen"}) {
    for (const std::string& engine : engines_of(comparison)) {
      for (const Metric metric : kMetrics) {
        const TextTable table = mean_error_table(comparison, summaries, scope, engine, metric);
        if (table.empty()) continue;
        text += "\n### Mean error by " + scope_title(scope) + ": " + engine_title(engine) + ", " +
                std::string(to_string(metric)) + "\n\n" + markdown_table(table, 1);
      }
    }
  }
  text += "\n### Cases\n\n" + markdown_table(case_table(comparison), 3);
  append_list(text, "Values to check", comparison.notes);
  append_list(text, "Excluded", comparison.excluded);
  append_list(text, "Unmatched", comparison.unmatched);
  return text;
}

}  // namespace pw
