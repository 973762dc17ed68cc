#include "pw/expert_routing.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <random>
#include <stdexcept>

#include "pw/fields.h"
#include "pw/int_math.h"

namespace pw {
namespace {

constexpr std::int64_t kGroups = 8;        // of a grouped router
constexpr std::int64_t kGroupsChosen = 4;  // by each token

using Counts = std::vector<std::int64_t>;  // rows of each expert

// The experts of every token, top_k after another.
struct Choices {
  std::int64_t top_k = 0;
  std::vector<std::int64_t> experts;

  std::int64_t tokens() const { return static_cast<std::int64_t>(experts.size()) / top_k; }
  std::int64_t* of(std::int64_t token) { return experts.data() + token * top_k; }
  const std::int64_t* of(std::int64_t token) const { return experts.data() + token * top_k; }
};

Choices no_choices(const RoutingProblem& problem) {
  const std::int64_t rows = problem.tokens * problem.top_k;
  return {problem.top_k, std::vector<std::int64_t>(static_cast<std::size_t>(rows))};
}

std::int64_t& at(Counts& counts, std::int64_t expert) {
  return counts[static_cast<std::size_t>(expert)];
}

Counts count(const Choices& choices, std::int64_t experts) {
  Counts counts(static_cast<std::size_t>(experts));
  for (const std::int64_t expert : choices.experts) ++at(counts, expert);
  return counts;
}

Choices balanced_choices(const RoutingProblem& problem) {
  const std::int64_t stride = ceil_div(problem.experts, problem.top_k);
  Choices choices = no_choices(problem);
  for (std::int64_t t = 0; t < problem.tokens; ++t) {
    // Few tokens spread over the first stride.
    const std::int64_t first = problem.tokens >= stride ? t : t * stride / problem.tokens;
    for (std::int64_t j = 0; j < problem.top_k; ++j) {
      choices.of(t)[j] = (first + j * stride) % problem.experts;
    }
  }
  return choices;
}

// Expert ids by falling (or rising) count, equal counts by rising id.
std::vector<std::int64_t> order_by_count(const Counts& counts, bool falling) {
  std::vector<std::int64_t> order(counts.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    const std::int64_t count_a = counts[static_cast<std::size_t>(a)];
    const std::int64_t count_b = counts[static_cast<std::size_t>(b)];
    return falling ? count_a > count_b : count_a < count_b;
  });
  return order;
}

// Adds `missing` rows, one each to the least loaded quarter of the experts, again and again. A
// negative number is taken from the most loaded eighth.
void settle(Counts& counts, std::int64_t missing, std::int64_t tokens) {
  const bool add = missing > 0;
  const std::int64_t limit = add ? tokens : 0;
  const auto experts = static_cast<std::int64_t>(counts.size());
  const std::int64_t at_once = std::max<std::int64_t>(1, experts / (add ? 4 : 8));
  std::int64_t left = std::abs(missing);
  while (left > 0) {
    std::vector<std::int64_t> order = order_by_count(counts, !add);
    order.resize(static_cast<std::size_t>(std::min(left, at_once)));
    for (const std::int64_t expert : order) {
      if (at(counts, expert) == limit) continue;
      at(counts, expert) += add ? 1 : -1;
      --left;
    }
  }
}

// Samples of the power law between its bounds, one for each uniform number.
std::vector<double> power_law_samples(const RoutingProblem& problem, double exponent,
                                      const std::vector<double>& uniforms) {
  const bool every_expert_busy = problem.tokens * problem.top_k > problem.experts;
  const double low = every_expert_busy ? 1 : 0.01;
  const double high = every_expert_busy ? 0.8 * static_cast<double>(problem.tokens) : 2;
  const double power = 1 - exponent;
  std::vector<double> samples;
  for (const double u : uniforms) {
    if (std::abs(power) > 1e-9) {
      const double start = std::pow(low, power);
      samples.push_back(std::pow((std::pow(high, power) - start) * u + start, 1 / power));
    } else {
      samples.push_back(low * std::pow(high / low, u));
    }
  }
  return samples;
}

// The samples as whole rows: in sum tokens x top_k, at most one row of each token per expert.
Counts rows_of_samples(const RoutingProblem& problem, const std::vector<double>& samples) {
  const double sum = std::accumulate(samples.begin(), samples.end(), 0.0);
  const std::int64_t rows = problem.tokens * problem.top_k;
  Counts counts;
  for (const double sample : samples) {
    const double share = std::nearbyint(sample / sum * static_cast<double>(rows));
    counts.push_back(std::min(static_cast<std::int64_t>(share), problem.tokens));
  }
  settle(counts, rows - std::accumulate(counts.begin(), counts.end(), std::int64_t{0}),
         problem.tokens);
  return counts;
}

// Exchanges the experts of the rank with most rows with those of rank 0, whose statistics are
// taken. Equal ranks: the first.
void move_busiest_rank_first(Counts& counts, std::int64_t ranks) {
  const auto per_rank = static_cast<std::ptrdiff_t>(counts.size()) / ranks;
  std::int64_t busiest = 0, most = -1;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    const auto first = counts.begin() + rank * per_rank;
    const std::int64_t rows = std::accumulate(first, first + per_rank, std::int64_t{0});
    if (rows > most) {
      most = rows;
      busiest = rank;
    }
  }
  if (busiest > 0) {
    std::swap_ranges(counts.begin(), counts.begin() + per_rank,
                     counts.begin() + busiest * per_rank);
  }
}

// Deals the rows to the tokens like cards, busiest expert first, so that no token gets an expert
// twice.
Choices deal(const RoutingProblem& problem, const Counts& counts) {
  Choices choices = no_choices(problem);
  std::int64_t card = 0;
  for (const std::int64_t expert : order_by_count(counts, true)) {
    for (std::int64_t i = 0; i < counts[static_cast<std::size_t>(expert)]; ++i, ++card) {
      choices.of(card % problem.tokens)[card / problem.tokens] = expert;
    }
  }
  return choices;
}

// The groups that a token's choices win: by the sum of the two best logits, ties to the lower id.
std::vector<bool> winning_groups(const Choices& choices, std::int64_t token,
                                 std::int64_t experts_per_group) {
  Counts scores(static_cast<std::size_t>(kGroups));
  for (std::int64_t j = 0; j < choices.top_k; ++j) {
    std::int64_t& score = at(scores, choices.of(token)[j] / experts_per_group);
    score = std::min<std::int64_t>(score + 1, 2);
  }
  const std::vector<std::int64_t> order = order_by_count(scores, true);
  std::vector<bool> wins(static_cast<std::size_t>(kGroups));
  for (std::int64_t i = 0; i < kGroupsChosen; ++i) {
    wins[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])] = true;
  }
  return wins;
}

// What a grouped router makes of the choices: those within the winning groups stay, the rest move
// to the lowest ids there. Ties to the lower id is an assumption (spec/moe.md section 3.8).
void route_by_groups(Choices& choices, std::int64_t experts) {
  const std::int64_t per_group = experts / kGroups;
  if (experts % kGroups != 0 || choices.top_k > per_group * kGroupsChosen) {
    throw DataError("a grouped router needs experts that divide by 8, and top_k of at most half");
  }
  std::vector<bool> chosen(static_cast<std::size_t>(experts));
  for (std::int64_t t = 0; t < choices.tokens(); ++t) {
    const std::vector<bool> wins = winning_groups(choices, t, per_group);
    std::fill(chosen.begin(), chosen.end(), false);
    for (std::int64_t j = 0; j < choices.top_k; ++j) {
      chosen[static_cast<std::size_t>(choices.of(t)[j])] = true;
    }
    std::int64_t found = 0;
    for (const bool wanted : {true, false}) {
      for (std::int64_t e = 0; e < experts && found < choices.top_k; ++e) {
        if (wins[static_cast<std::size_t>(e / per_group)] &&
            chosen[static_cast<std::size_t>(e)] == wanted) {
          choices.of(t)[found++] = e;
        }
      }
    }
  }
}

void add_expert(RoutingStatistics& statistics, std::int64_t rows) {
  if (rows == 0) return;
  statistics.rows += static_cast<double>(rows);
  statistics.experts_hit += 1;
  statistics.largest = std::max(statistics.largest, static_cast<double>(rows));
  for (std::size_t i = 0; i < statistics.padded.size(); ++i) {
    statistics.padded[i] += static_cast<double>(round_up(rows, RoutingStatistics::kBlocks[i]));
  }
}

// Of rank 0.
RoutingStatistics statistics_of(const RoutingProblem& problem, const Choices& choices) {
  const std::int64_t local = problem.experts / problem.ranks;
  const Counts counts = count(choices, problem.experts);
  RoutingStatistics statistics;
  for (std::int64_t e = 0; e < local; ++e) {
    add_expert(statistics, counts[static_cast<std::size_t>(e)]);
  }
  std::int64_t tokens = 0;
  for (std::int64_t t = 0; t < problem.tokens; ++t) {
    const std::int64_t* first = choices.of(t);
    if (std::any_of(first, first + choices.top_k, [&](std::int64_t e) { return e < local; })) {
      ++tokens;
    }
  }
  statistics.tokens = static_cast<double>(tokens);
  return statistics;
}

void add(RoutingStatistics& sum, const RoutingStatistics& other, double weight) {
  sum.rows += weight * other.rows;
  sum.experts_hit += weight * other.experts_hit;
  sum.largest += weight * other.largest;
  sum.tokens += weight * other.tokens;
  for (std::size_t i = 0; i < sum.padded.size(); ++i) sum.padded[i] += weight * other.padded[i];
}

// Probabilities of 0 ... trials successes.
std::vector<double> binomial(std::int64_t trials, double probability) {
  std::vector<double> result(static_cast<std::size_t>(trials) + 1);
  if (probability >= 1) {
    result.back() = 1;
    return result;
  }
  const double ln_odds = std::log(probability) - std::log1p(-probability);
  double ln_p = static_cast<double>(trials) * std::log1p(-probability);
  for (std::size_t c = 0; c < result.size(); ++c) {
    result[c] = std::exp(ln_p);
    const auto successes = static_cast<double>(c);
    ln_p += std::log((static_cast<double>(trials) - successes) / (successes + 1)) + ln_odds;
  }
  return result;
}

// The chance that a token has no expert on a rank of `local` experts.
double chance_of_none(const RoutingProblem& problem, std::int64_t local) {
  double chance = 1;
  for (std::int64_t j = 0; j < problem.top_k; ++j) {
    chance *= static_cast<double>(std::max<std::int64_t>(problem.experts - local - j, 0)) /
              static_cast<double>(problem.experts - j);
  }
  return chance;
}

}  // namespace

ExpertRouting parse_expert_routing(std::string_view distribution, const std::string& where) {
  constexpr std::string_view kPowerLaw = "power_law_";
  if (distribution == "balanced") return {ExpertDistribution::balanced};
  if (distribution == "uniform") return {ExpertDistribution::uniform};
  if (distribution.substr(0, kPowerLaw.size()) == kPowerLaw) {
    const std::string_view number = distribution.substr(kPowerLaw.size());
    double exponent = 0;
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), exponent);
    if (error == std::errc() && end == number.data() + number.size() && exponent > 0 &&
        std::isfinite(exponent)) {
      return {ExpertDistribution::power_law, exponent};
    }
  }
  throw DataError(where + " is \"" + std::string(distribution) +
                  "\", expected balanced, uniform or power_law_ and an exponent above 0");
}

std::string to_string(const ExpertRouting& routing) {
  if (routing.distribution == ExpertDistribution::balanced) return "balanced";
  if (routing.distribution == ExpertDistribution::uniform) return "uniform";
  char number[32];
  const auto end = std::to_chars(number, number + sizeof number, routing.exponent).ptr;
  return "power_law_" + std::string(number, end);
}

void check(const RoutingProblem& problem) {
  if (std::min({problem.tokens, problem.experts, problem.top_k, problem.ranks}) < 1 ||
      problem.top_k > problem.experts || problem.experts % problem.ranks != 0) {
    throw DataError("an expert block needs M, E, topk, ep >= 1, topk <= E and E divisible by ep");
  }
  if (problem.tokens > kMostRows / problem.top_k) {
    throw DataError("an expert block needs M x topk of at most " + std::to_string(kMostRows));
  }
}

double RoutingStatistics::padded_to(std::int64_t block) const {
  const auto found = std::find(kBlocks.begin(), kBlocks.end(), block);
  if (found == kBlocks.end()) {
    throw std::out_of_range("no padded rows for blocks of " + std::to_string(block));
  }
  return padded[static_cast<std::size_t>(found - kBlocks.begin())];
}

RoutingStatistics balanced_statistics(const RoutingProblem& problem, bool grouped) {
  check(problem);
  Choices choices = balanced_choices(problem);
  if (grouped) route_by_groups(choices, problem.experts);
  return statistics_of(problem, choices);
}

RoutingStatistics uniform_statistics(const RoutingProblem& problem) {
  check(problem);
  const auto tokens = static_cast<double>(problem.tokens);
  const std::int64_t local_experts = problem.experts / problem.ranks;
  const auto local = static_cast<double>(local_experts);
  const double share = static_cast<double>(problem.top_k) / static_cast<double>(problem.experts);
  const std::vector<double> chances = binomial(problem.tokens, share);

  RoutingStatistics expected;
  expected.rows = local * tokens * share;
  expected.experts_hit = local * (1 - chances.front());
  const double none = chance_of_none(problem, local_experts);
  expected.tokens = tokens * (1 - none);
  double at_most = 0;  // the chance that an expert has at most c rows
  for (std::size_t c = 0; c < chances.size(); ++c) {
    for (std::size_t i = 0; i < expected.padded.size(); ++i) {
      const std::int64_t rows =
          round_up(static_cast<std::int64_t>(c), RoutingStatistics::kBlocks[i]);
      expected.padded[i] += local * chances[c] * static_cast<double>(rows);
    }
    at_most = std::min(at_most + chances[c], 1.0);
    // No expert has more than c rows: for c = 0 if no token comes to this rank.
    const double all_at_most = c == 0 ? std::pow(none, tokens) : std::pow(at_most, local);
    expected.largest += 1 - all_at_most;
  }
  return expected;
}

RoutingStatistics power_law_draw(const RoutingProblem& problem, double exponent, bool grouped,
                                 const std::vector<double>& uniforms) {
  check(problem);
  if (uniforms.size() != static_cast<std::size_t>(problem.experts)) {
    throw std::invalid_argument("power_law_draw needs one number per expert");
  }
  Counts counts = rows_of_samples(problem, power_law_samples(problem, exponent, uniforms));
  move_busiest_rank_first(counts, problem.ranks);
  Choices choices = deal(problem, counts);
  if (grouped) route_by_groups(choices, problem.experts);
  return statistics_of(problem, choices);
}

RoutingStatistics power_law_statistics(const RoutingProblem& problem, double exponent, bool grouped,
                                       int draws) {
  check(problem);
  constexpr std::uint64_t kSeed = 1;
  std::mt19937_64 generator(kSeed);
  RoutingStatistics mean;
  for (int draw = 0; draw < draws; ++draw) {
    std::vector<double> uniforms;
    for (std::int64_t e = 0; e < problem.experts; ++e) {
      // 53 random bits: unlike uniform_real_distribution the same in every standard library.
      uniforms.push_back(std::ldexp(static_cast<double>(generator() >> 11), -53));
    }
    add(mean, power_law_draw(problem, exponent, grouped, uniforms), 1.0 / draws);
  }
  return mean;
}

RoutingStatistics routing_statistics(const RoutingProblem& problem, const ExpertRouting& routing) {
  switch (routing.distribution) {
    case ExpertDistribution::balanced:
      return balanced_statistics(problem, routing.grouped);
    case ExpertDistribution::uniform:
      return uniform_statistics(problem);
    case ExpertDistribution::power_law:
      break;
  }
  return power_law_statistics(problem, routing.exponent, routing.grouped);
}

}  // namespace pw
