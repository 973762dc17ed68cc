#pragma once

#include <string>

#include "fuzz_input.h"
#include "pw/comparison.h"

namespace pw::fuzz {

inline void ignore(const std::string&) {}

// Every table of a comparison; those that hold a number that is no number cannot be written.
inline void render(const std::vector<Method>& methods, const std::vector<MeasuredCase>& measured) {
  for (const RunRule rule : {RunRule::median, RunRule::best}) {
    takes([&] {
      const Comparison comparison = compare_pair(methods, measured, std::nullopt, rule);
      const auto summaries = summarise(comparison);
      comparison_json(comparison, summaries);
      comparison_text(comparison, summaries);
      comparison_html(comparison, summaries);
      comparison_csv(comparison, methods.front().name);
    });
  }
}

}  // namespace pw::fuzz
