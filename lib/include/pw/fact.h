#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace pw {

// What a reader of a result must know before trusting it. The names in JSON and in the sweep's
// column are those of the enumerators; docs/facts.md lists them with their data.
enum class FactKind {
  note,  // a text of a file that tells no kind
  // Of the model's config
  alternative_key,
  conflicting_keys,
  dtype_assumed,
  fp8_weights,
  fp8_modules_excepted,
  kv_cache_dtype_ignored,
  language_model_only,
  architecture_assumed,
  activation_assumed,
  untied_embeddings_assumed,
  // Of the trace
  output_length_source,
  rows_skipped,
  arrivals_unused,
  arrivals_unknown,
  // Of the workload
  context_beyond_model,
  sliding_window_ignored,
  output_lengths_differ,
  pipeline_stages,
  // Of the prediction
  does_not_fit,
  foreign_kernel,
  unseen_gpu,
  default_rates,
  borrowed_tiles,
  library_kernels,
  extrapolated,
  quantile,
  collective_extrapolated,
  collective_workers_scaled,
  collective_one_worker,
  collective_borrowed,
  collective_substituted,
  collective_from_bandwidth,
  error_band,
};
inline constexpr std::size_t kFactKinds = static_cast<std::size_t>(FactKind::error_band) + 1;
std::string_view to_string(FactKind kind);
// FactKind::note for a name that this version does not know.
FactKind parse_fact_kind(std::string_view name);

using FactValue = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>,
                               std::vector<std::string>>;

struct Fact {
  FactKind kind = FactKind::note;
  std::string sentence;                                 // for people
  std::vector<std::pair<std::string, FactValue>> data;  // for programs
};

// Facts in the order in which they were found, each once.
class Facts {
 public:
  Facts() = default;
  Facts(std::initializer_list<Fact> facts);

  void add(Fact fact);
  void add(const Facts& more);
  bool has(FactKind kind) const;

  bool empty() const { return facts_.empty(); }
  std::size_t size() const { return facts_.size(); }
  std::vector<Fact>::const_iterator begin() const { return facts_.begin(); }
  std::vector<Fact>::const_iterator end() const { return facts_.end(); }

 private:
  std::vector<Fact> facts_;
};

}  // namespace pw
