#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pw/comparison.h"
#include "support/reference.h"

namespace pw {

inline HardwareCatalog shipped_catalog() { return HardwareCatalog::read(shipped("hardware")); }

// A prediction file of the published form with these three times.
inline std::string times_json(const std::string& prefill, const std::string& decode,
                              const std::string& total) {
  return R"({"model": "DemoForCausalLM", "hardware": "NVIDIA L40", "tp_size": 1, "pp_size": 1,
 "iterations": [], "summary": {"prefill_duration_ms": )" +
         prefill + R"(, "decode_avg_duration_ms": )" + decode + R"(, "total_duration_ms": )" +
         total + "}}";
}

// One line of SGLang's benchmark, seconds.
inline std::string run_line(const std::string& name, int iteration, const std::string& prefill,
                            const std::string& decode, const std::string& total) {
  return R"({"run_name": ")" + name + R"(", "iteration": )" + std::to_string(iteration) +
         R"(, "prefill_latency": )" + prefill + R"(, "median_decode_latency": )" + decode +
         R"(, "total_latency": )" + total + "}\n";
}

// Collects warnings.
struct Warnings {
  std::vector<std::string> texts;
  Warn sink() {
    return [this](const std::string& text) { texts.push_back(text); };
  }
};

inline void no_warning(const std::string& text) { ADD_FAILURE() << "unexpected: " << text; }

}  // namespace pw
