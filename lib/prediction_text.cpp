#include <algorithm>
#include <cmath>
#include <cstdio>

#include "io/text.h"
#include "pw/prediction.h"

namespace pw {
namespace {

template <class... Values>
std::string format(const char* pattern, Values... values) {
  char buffer[256];
  std::snprintf(buffer, sizeof buffer, pattern, values...);
  return buffer;
}

double to_ms(double us) { return us / 1000; }

// "12 345.6": thousands apart, so that long and short times line up and stay readable.
std::string grouped(double value, int decimals) {
  std::string text = format("%.*f", decimals, value);
  const std::size_t point = std::min(text.find('.'), text.size());
  for (std::size_t i = point; i > 3 && i - 3 > (text[0] == '-' ? 1u : 0u); i -= 3) {
    text.insert(i - 3, " ");
  }
  return text;
}

double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

double per_second(std::int64_t count, double us) {
  return us > 0 ? static_cast<double>(count) / (us * 1e-6) : 0;
}

std::string headline(const Prediction& p) {
  std::string text = (p.config.empty() ? p.model : p.config) + " on " + p.hardware.name + ", tp " +
                     std::to_string(p.tp_size) + ", pp " + std::to_string(p.pp_size);
  if (!p.trace.empty()) {
    text += ", trace " + p.trace;
  }
  const std::string output =
      grouped(static_cast<double>(p.output_tokens), 0) + " output tokens\n\n";
  if (p.requests == 0) {
    return text + "\ndecode steps alone, " + output;
  }
  return text + "\n" +
         format("%lld requests, %s prompt tokens, ", static_cast<long long>(p.requests),
                grouped(static_cast<double>(p.prompt_tokens), 0).c_str()) +
         output;
}

// "   p10-p90 980.1 to 1 090.2 ms"
std::string band_text(const std::optional<TimeBand>& band) {
  return band ? "   p10-p90 " + grouped(to_ms(band->p10_us), 2) + " to " +
                    grouped(to_ms(band->p90_us), 2) + " ms"
              : "";
}

std::string phases(const Prediction& p) {
  const PredictionSummary& s = p.summary;
  const PredictionBands bands = p.bands.value_or(PredictionBands{});
  std::string text;
  if (s.prefill_us > 0) {
    text += format("  prefill       %12s ms   %s prompt tokens/s%s\n",
                   grouped(to_ms(s.prefill_us), 2).c_str(),
                   grouped(per_second(p.prompt_tokens, s.prefill_us), 0).c_str(),
                   band_text(bands.prefill).c_str());
  }
  if (s.decode_steps > 0) {
    const std::int64_t decoded = p.output_tokens - p.requests;
    text += format("  decode step   %12s ms   mean of %lld steps, %s output tokens/s%s\n",
                   grouped(to_ms(s.decode_average_us), 2).c_str(),
                   static_cast<long long>(s.decode_steps),
                   grouped(per_second(decoded, s.decode_total_us), 0).c_str(),
                   band_text(bands.decode_step).c_str());
  }
  text += format(
      "  total         %12s ms   %s output tokens/s%s\n", grouped(to_ms(s.total_us), 2).c_str(),
      grouped(per_second(p.output_tokens, s.total_us), 0).c_str(), band_text(bands.total).c_str());
  return text;
}

std::string memory_line(const Prediction& p) {
  const auto gb = [](std::int64_t bytes) { return static_cast<double>(bytes) * 1e-9; };
  std::string text = format("  memory        %12s GB   per GPU: %.1f weights + %.1f KV cache",
                            grouped(gb(p.memory.weight_bytes + p.memory.kv_cache_bytes), 1).c_str(),
                            gb(p.memory.weight_bytes), gb(p.memory.kv_cache_bytes));
  if (p.hardware.global_memory_bytes > 0) {
    text += format(" of %.1f: %s", gb(p.hardware.global_memory_bytes),
                   p.fits() ? "fits" : "DOES NOT FIT");
  }
  return text + "\n";
}

std::string table(const Prediction& p) {
  const PredictionSummary& s = p.summary;
  const double steps = static_cast<double>(std::max<std::int64_t>(1, s.decode_steps));
  std::string text = format("\n  %-14s %12s %7s %14s %7s %12s %7s\n", "operator", "prefill ms",
                            "share", "ms/decode step", "share", "total ms", "share");
  const auto line = [&](const OperatorSum& row) {
    text += format("  %-14s %12s %6.1f%% %14.3f %6.1f%% %12s %6.1f%%\n", row.name.c_str(),
                   grouped(to_ms(row.prefill_us), 2).c_str(), percent(row.prefill_us, s.prefill_us),
                   to_ms(row.decode_us) / steps, percent(row.decode_us, s.decode_total_us),
                   grouped(to_ms(row.total_us()), 2).c_str(), percent(row.total_us(), s.total_us));
  };
  for (const OperatorSum& row : operator_sums(p)) {
    line(row);
  }
  line({OperatorGroup::engine, "sum", s.prefill_us, s.decode_total_us});
  return text;
}

}  // namespace

std::string prediction_text(const Prediction& p) {
  std::string text = headline(p) + phases(p) + memory_line(p) + table(p);
  if (!p.facts.empty()) text += "\n";
  for (const Fact& fact : p.facts) text += "  note: " + one_line(fact.sentence) + "\n";
  return text;
}

}  // namespace pw
