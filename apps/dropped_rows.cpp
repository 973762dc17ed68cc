#include "dropped_rows.h"

namespace pw {

void print_dropped(std::ostream& stream, const std::map<std::string, DroppedRows>& dropped,
                   std::size_t used_rows) {
  std::int64_t skipped = 0;
  for (const auto& [reason, rows] : dropped) skipped += rows.rows;
  if (skipped > 0) {
    stream << "  " << skipped << " of " << skipped + static_cast<std::int64_t>(used_rows)
           << " rows skipped\n";
  }
  for (const auto& [reason, rows] : dropped) {
    stream << "  left out: " << rows.rows << ' ' << reason << '\n';
    for (const std::string& example : rows.examples) {
      stream << "    " << example << '\n';
    }
    const auto shown = static_cast<std::int64_t>(rows.examples.size());
    if (shown > 0 && shown < rows.rows) {
      stream << "    and " << rows.rows - shown << " more\n";
    }
  }
}

}  // namespace pw
