#include "pw/fact.h"

#include <algorithm>
#include <array>

namespace pw {
namespace {

// In the order of FactKind.
constexpr std::array<std::string_view, kFactKinds> kNames = {
    "note",
    "alternative_key",
    "conflicting_keys",
    "dtype_assumed",
    "fp8_weights",
    "fp8_modules_excepted",
    "kv_cache_dtype_ignored",
    "language_model_only",
    "architecture_assumed",
    "activation_assumed",
    "untied_embeddings_assumed",
    "output_length_source",
    "rows_skipped",
    "arrivals_unused",
    "arrivals_unknown",
    "context_beyond_model",
    "sliding_window_ignored",
    "output_lengths_differ",
    "pipeline_stages",
    "does_not_fit",
    "foreign_kernel",
    "unseen_gpu",
    "default_rates",
    "borrowed_tiles",
    "library_kernels",
    "extrapolated",
    "quantile",
    "collective_extrapolated",
    "collective_workers_scaled",
    "collective_one_worker",
    "collective_borrowed",
    "collective_substituted",
    "collective_from_bandwidth",
    "error_band",
};

}  // namespace

std::string_view to_string(FactKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

FactKind parse_fact_kind(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  return found == kNames.end() ? FactKind::note : static_cast<FactKind>(found - kNames.begin());
}

Facts::Facts(std::initializer_list<Fact> facts) {
  for (const Fact& fact : facts) add(fact);
}

void Facts::add(Fact fact) {
  const bool known = std::any_of(facts_.begin(), facts_.end(), [&](const Fact& each) {
    return each.kind == fact.kind && each.sentence == fact.sentence;
  });
  if (!known) facts_.push_back(std::move(fact));
}

void Facts::add(const Facts& more) {
  for (const Fact& fact : more) add(fact);
}

bool Facts::has(FactKind kind) const {
  return std::any_of(facts_.begin(), facts_.end(),
                     [&](const Fact& fact) { return fact.kind == kind; });
}

}  // namespace pw
