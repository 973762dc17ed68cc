#include "compare/format.h"
#include "pw/comparison.h"

namespace pw {
namespace {

// More cases than this are in the files alone.
constexpr std::size_t kMostCasesOnScreen = 12;

void append_list(std::string& text, const std::string& title,
                 const std::vector<std::string>& lines) {
  for (const std::string& line : lines) text += title + ": " + line + "\n";
}

}  // namespace

std::string comparison_text(const Comparison& comparison,
                            const std::vector<ErrorSummary>& summaries) {
  std::string text = "Measured value: " + describe(comparison.rule) + "\n\n";
  text += plain_table(overall_table(summaries), 3, "");
  if (comparison.rows.size() <= kMostCasesOnScreen) {
    text += "\n" + plain_table(phase_table(comparison), 4, "");
  }
  for (const char* scope : {"gpu", "seen"}) {
    for (const std::string& engine : engines_of(comparison)) {
      for (const Metric metric : kMetrics) {
        const TextTable table = mean_error_table(comparison, summaries, scope, engine, metric);
        if (table.size() <= 2) continue;  // one group: the overall table has it
        text += "\nMean error in %, " + engine_title(engine) + " " +
                std::string(to_string(metric)) + "\n" + plain_table(table, 1, "");
      }
    }
  }
  if (!comparison.excluded.empty() || !comparison.unmatched.empty() || !comparison.notes.empty()) {
    text += "\n";
  }
  append_list(text, "note", comparison.notes);
  append_list(text, "excluded", comparison.excluded);
  append_list(text, "unmatched", comparison.unmatched);
  return text;
}

}  // namespace pw
