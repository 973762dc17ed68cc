#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pw {

// How the tokens of a batch choose their experts. The first three are the distributions of the
// public measurements; formulas: spec/moe.md section 3.2.
enum class ExpertDistribution {
  balanced,   // token t takes experts t, t + s, t + 2s ... with s = ceil(experts / top_k)
  uniform,    // every set of top_k experts is equally likely: for a model without known counts
  power_law,  // the experts' shares are drawn from a bounded power law
};

struct ExpertRouting {
  ExpertDistribution distribution = ExpertDistribution::balanced;
  double exponent = 0;  // of power_law
  // The router first takes 4 of 8 groups of experts (DeepSeek-V3) and is fed with logits that are
  // 1 for the chosen experts and 0 for all others. Choices outside the groups move to low ids.
  bool grouped = false;
};

// "balanced", "uniform" or "power_law_1.2"; `where` starts the message of the DataError.
ExpertRouting parse_expert_routing(std::string_view distribution, const std::string& where);
std::string to_string(const ExpertRouting& routing);  // what that reads

// Whose routing: `ranks` GPUs hold equal parts of the experts (expert parallelism). Statistics are
// those of one rank: the one with most rows when shares are drawn, else rank 0.
struct RoutingProblem {
  std::int64_t tokens = 0;   // of the batch, before routing
  std::int64_t experts = 0;  // of the model
  std::int64_t top_k = 0;    // experts of each token
  std::int64_t ranks = 1;    // ep
};
// Throws DataError unless all are at least 1, top_k <= experts, ranks divide the experts, and the
// batch has at most kMostRows pairs of a token and an expert, which are laid out in memory.
constexpr std::int64_t kMostRows = std::int64_t{1} << 26;
void check(const RoutingProblem& problem);

// What a rank's work depends on. "Rows" are pairs of a token and one of its experts. Not integers,
// because they may be means over draws.
struct RoutingStatistics {
  static constexpr std::array<std::int64_t, 6> kBlocks{8, 16, 32, 64, 128, 256};

  double rows = 0;                              // A: of this rank's experts
  double experts_hit = 0;                       // D: this rank's experts with at least one row
  double largest = 0;                           // c_max: rows of the busiest expert
  double tokens = 0;                            // Tl: tokens with at least one expert on this rank
  std::array<double, kBlocks.size()> padded{};  // P_b: rows, each expert's padded to blocks of b

  double padded_to(std::int64_t block) const;  // throws std::out_of_range for no block of kBlocks
};

RoutingStatistics balanced_statistics(const RoutingProblem& problem, bool grouped);

// Expected values. Exact except for `largest`, which takes experts as independent. A grouped router
// leaves the counts per expert as they are; the tokens with an expert on one of several ranks are
// fewer then, which is not modelled.
RoutingStatistics uniform_statistics(const RoutingProblem& problem);

// One draw of the power law from one number in [0, 1) per expert.
RoutingStatistics power_law_draw(const RoutingProblem& problem, double exponent, bool grouped,
                                 const std::vector<double>& uniforms);

// The mean over draws of a generator with a fixed seed: the same numbers on every machine whose
// pow() rounds alike, but not those of another program's draws.
constexpr int kPowerLawDraws = 6;
RoutingStatistics power_law_statistics(const RoutingProblem& problem, double exponent, bool grouped,
                                       int draws = kPowerLawDraws);

// One of the above.
RoutingStatistics routing_statistics(const RoutingProblem& problem, const ExpertRouting& routing);

}  // namespace pw
