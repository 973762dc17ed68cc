#include "compare/case_name.h"

#include <algorithm>
#include <cctype>

#include "io/numbers.h"

namespace pw {
namespace {

constexpr std::array<std::string_view, 3> kMetricNames{"prefill", "decode", "total"};
constexpr std::array<std::string_view, 3> kServingNames{"ttft", "tpot", "e2e"};
constexpr std::array<std::string_view, 5> kMethodSuffixes{"rf", "linear", "roofline", "neusight",
                                                          "habitat"};
constexpr std::array<std::string_view, 3> kTraceStarts{"arxiv", "splitwise", "vllm"};

using Parts = std::vector<std::string>;

std::string join(const Parts& parts, std::size_t begin, std::size_t end) {
  std::string text;
  for (std::size_t i = begin; i < end; ++i) {
    text += (i == begin ? "" : "_") + parts[i];
  }
  return text;
}

template <class Names>
bool contains(const Names& names, std::string_view text) {
  return std::find(names.begin(), names.end(), text) != names.end();
}

bool is_kernel(std::string_view part) { return part == "auto" || part.substr(0, 2) == "fa"; }

// The attention kernel and the sizes at `at`, which moves behind them.
void take_settings(const Parts& parts, std::size_t& at, CaseName& name) {
  if (at < parts.size() && is_kernel(parts[at])) {
    name.kernel = parts[at++];
  }
  while (at < parts.size() &&
         (parse_size(parts[at], "tp", name.tp) || parse_size(parts[at], "pp", name.pp))) {
    ++at;
  }
}

}  // namespace

std::string_view to_string(Metric metric) { return kMetricNames[static_cast<std::size_t>(metric)]; }

std::optional<Metric> find_metric(std::string_view name) {
  for (const Metric metric : kMetrics) {
    if (name == to_string(metric) || name == kServingNames[static_cast<std::size_t>(metric)]) {
      return metric;
    }
  }
  return std::nullopt;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

bool parse_size(std::string_view part, std::string_view prefix, std::int64_t& size) {
  if (part.substr(0, prefix.size()) != prefix) return false;
  const auto value = parse_digits(part.substr(prefix.size()));
  if (!value || *value < 1) return false;
  size = *value;
  return true;
}

std::optional<CaseName> parse_case_name(std::string_view stem) {
  Parts parts = split(stem, '_');
  if (contains(kMethodSuffixes, parts.back())) {
    parts.pop_back();
  }
  const auto known = std::find_if(parts.begin() + 1, parts.end(), [](const std::string& part) {
    return contains(kTraceStarts, part);
  });
  const std::size_t trace =
      known == parts.end() ? 1 : static_cast<std::size_t>(known - parts.begin());
  std::int64_t ignored = 0;
  const auto settings =
      std::find_if(parts.begin() + static_cast<std::ptrdiff_t>(std::min(trace + 1, parts.size())),
                   parts.end(), [&](const std::string& part) {
                     return is_kernel(part) || parse_size(part, "tp", ignored) ||
                            parse_size(part, "pp", ignored);
                   });
  CaseName name;
  name.label = std::string(stem);
  name.kernel = "unknown";
  const auto trace_end = static_cast<std::size_t>(settings - parts.begin());
  std::size_t at = trace_end;
  take_settings(parts, at, name);
  if (settings == parts.end() || at >= parts.size()) {
    return std::nullopt;
  }
  const bool vllm = parts[trace] == "vllm" && trace + 1 < trace_end;
  name.engine = vllm ? "vllm" : "sglang";
  name.model = join(parts, 0, trace);
  name.trace = join(parts, trace + (vllm ? 1 : 0), trace_end);
  name.gpu = join(parts, at, parts.size());
  return name;
}

std::string gpu_name(std::string_view text, const HardwareCatalog& catalog) {
  const HardwareSpec* spec = catalog.find(text);
  std::string name = spec != nullptr ? spec->stem : std::string(text);
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

std::string run_name_of(const CaseName& name) {
  std::string model = name.model;
  std::replace(model.begin(), model.end(), '_', '-');
  return model + "-" + name.trace;
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::string vllm_model_tag(std::string_view model) {
  const auto letters = std::find_if(model.begin(), model.end(), [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) == 0;
  });
  const std::size_t dash = model.rfind('-');
  return lower_case(std::string(model.begin(), letters) +
                    std::string(dash == model.npos ? "" : model.substr(dash + 1)));
}

std::string describe(const CaseName& name) {
  if (!name.told()) return name.label;
  return name.model + (name.engine == "vllm" ? " vllm " : " ") + name.trace + " tp" +
         std::to_string(name.tp) + " pp" + std::to_string(name.pp) + " on " + name.gpu;
}

}  // namespace pw
