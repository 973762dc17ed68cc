#include "pw/expert_block.h"

#include <algorithm>
#include <cmath>

#include "pw/int_math.h"
#include "ratio_math.h"

namespace pw {
namespace {

constexpr double kTileN = 128;       // columns of an output tile in all estimates
constexpr double kActivation16 = 2;  // bytes of a 16-bit value
constexpr double kRouterBytes = 6;   // per token and expert: a 4-byte logit and 2 bytes besides
constexpr double kTiny = 1e-12;      // logarithms of less are those of this
constexpr double kFewest = 1e-3;  // so many rows, experts or tokens at least: a rank may get none
constexpr std::array<std::int64_t, 3> kFixedTiles{16, 64, 128};  // rows of the tiles tried

double ln(double value) { return std::log(std::max(value, kTiny)); }

double flag_unless_multiple(std::int64_t size, std::int64_t of) {
  return size % of != 0 ? 1.0 : 0.0;
}

// The block on its rank, in numbers that estimates calculate with.
struct RankBlock {
  double tokens, hidden, experts, top_k;
  double width;          // I' = I / tp
  double local_experts;  // E / ep
  double gate;           // matrices before the activation: 2 or 1
  ExpertFormat format;

  double all_rows() const { return tokens * top_k; }  // on all ranks
  double weights_of_expert() const { return hidden * width * (gate + 1); }
  double operations(double rows) const { return 2 * rows * weights_of_expert(); }
  double weight_bytes(double experts_hit) const {
    return experts_hit * weights_of_expert() * format.weight_bytes;
  }
  // Read and written between the kernels: the token, the result of the first GEMM (written, read),
  // the activation (the same, in the format of the GEMM), the result of the second GEMM (the same).
  // spec/moe.md has the activation once; the prototype and the golden file count it twice.
  double bytes_of_row() const {
    return kActivation16 * hidden + 2 * kActivation16 * gate * width +
           2 * format.activation_bytes * width + 2 * kActivation16 * hidden;
  }
  // Those of `rows`, and the sum of every token.
  double activation_bytes(double rows) const {
    return rows * bytes_of_row() + tokens * hidden * kActivation16;
  }
};

RankBlock on_rank(const ExpertBlockConfig& block) {
  check(block);
  return {static_cast<double>(block.rows),
          static_cast<double>(block.hidden),
          static_cast<double>(block.experts),
          static_cast<double>(block.top_k),
          static_cast<double>(block.intermediate / block.tensor_parallel),
          static_cast<double>(block.experts / block.expert_parallel),
          block.gated ? 2.0 : 1.0,
          expert_format(block.type)};
}

RoutingStatistics at_least_few(RoutingStatistics statistics) {
  for (double* value :
       {&statistics.rows, &statistics.experts_hit, &statistics.largest, &statistics.tokens}) {
    *value = std::max(*value, kFewest);
  }
  return statistics;
}

// Both GEMMs in tiles of `tile` rows by kTileN columns, of which every SM works on one at a time.
struct Tiling {
  double pad_us = 0;   // multiplying whole tiles
  double wave_us = 0;  // multiplying as long as the SM with most tiles does
  double l2_us = 0;    // reading each tile's operands from L2
  // Of the first and the second GEMM:
  double tiles_per_sm1 = 0, tiles_per_sm2 = 0;
  double waves1 = 0, waves2 = 0;  // the same rounded up

  double ln_fill1() const { return ln(tiles_per_sm1 / std::max(waves1, 1.0)); }
  double ln_fill2() const { return ln(tiles_per_sm2 / std::max(waves2, 1.0)); }
};

Tiling tiling(const RankBlock& block, double tile, double padded_rows,
              const ExpertBlockRates& rates) {
  const double ops_per_us = rates.ops_per_us(block.format.tensor);
  const double tiles1 = padded_rows / tile * std::ceil(block.gate * block.width / kTileN);
  const double tiles2 = padded_rows / tile * std::ceil(block.hidden / kTileN);
  const double bytes_per_depth =
      tile * block.format.activation_bytes + kTileN * block.format.weight_bytes;
  Tiling t;
  t.tiles_per_sm1 = tiles1 / rates.sms;
  t.tiles_per_sm2 = tiles2 / rates.sms;
  t.waves1 = std::ceil(t.tiles_per_sm1);
  t.waves2 = std::ceil(t.tiles_per_sm2);
  t.pad_us = block.operations(padded_rows) / ops_per_us;
  t.wave_us = 2 * tile * kTileN * (block.hidden * t.waves1 + block.width * t.waves2) * rates.sms /
              ops_per_us;
  t.l2_us =
      (tiles1 * block.hidden + tiles2 * block.width) * bytes_per_depth / rates.l2_bytes_per_us;
  return t;
}

// What tile heuristics of fused kernels choose: the next power of two of the mean rows per expert.
std::int64_t adaptive_tile(double rows_per_expert) {
  std::int64_t tile = 8;
  // The factor keeps a mean that is a power of two up to rounding at that power.
  while (tile < 128 && static_cast<double>(tile) * (1 + 1e-9) < rows_per_expert) tile *= 2;
  return tile;
}

void append_fixed_tiles(std::vector<double>& values, const RankBlock& block,
                        const RoutingStatistics& statistics, const ExpertBlockRates& rates,
                        const LnToBound& ln_to_bound) {
  for (const std::int64_t rows : kFixedTiles) {
    const auto tile = static_cast<double>(rows);
    const double padded = std::max(statistics.padded_to(rows), kFewest * tile);
    const Tiling t = tiling(block, tile, padded, rates);
    values.insert(values.end(), {ln_to_bound(t.pad_us), ln_to_bound(t.wave_us),
                                 ln_to_bound(t.l2_us), t.ln_fill1(), t.ln_fill2()});
  }
}

void append_adaptive_tile(std::vector<double>& values, const RankBlock& block,
                          const RoutingStatistics& statistics, const ExpertBlockRates& rates,
                          const LnToBound& ln_to_bound) {
  const double mean = std::max(block.all_rows() / block.experts, kFewest);
  const std::int64_t rows = adaptive_tile(mean);
  const auto tile = static_cast<double>(rows);
  const Tiling t = tiling(block, tile, statistics.padded_to(rows), rates);
  values.insert(values.end(),
                {ln_to_bound(t.pad_us), ln_to_bound(t.wave_us), t.ln_fill1(), t.ln_fill2(),
                 ln(tile), ln(mean / tile), ln(t.waves1), ln(t.tiles_per_sm1)});
}

void append_sizes(std::vector<double>& values, const ExpertBlockConfig& config,
                  const RankBlock& block, const RoutingStatistics& s) {
  const std::int64_t width = config.intermediate / config.tensor_parallel;
  values.insert(
      values.end(),
      {flag_unless_multiple(width, 64), flag_unless_multiple(width, 128),
       flag_unless_multiple(width, 256), flag_unless_multiple(config.hidden, 256), ln(s.largest),
       ln(s.rows / s.experts_hit), ln(s.experts_hit), ln(block.local_experts), ln(block.hidden),
       ln(block.width), ln(block.top_k), ln(block.tokens), ln(s.rows), ln(block.experts),
       ln(s.largest * s.experts_hit / s.rows), ln(s.experts_hit / block.local_experts),
       ln(s.tokens / block.tokens)});
}

RoutingProblem routing_problem(const ExpertBlockConfig& block) {
  return {block.rows, block.experts, block.top_k, block.expert_parallel};
}

double count_at_least_0(const Fields& fields, const std::string& name) {
  const double value = fields.number(name);
  if (value < 0) {
    throw DataError(fields.where(name) + " is " + std::to_string(value) +
                    ", expected a number of at least 0");
  }
  return value;
}

RoutingStatistics read_statistics(const Fields& fields) {
  RoutingStatistics statistics;
  statistics.rows = count_at_least_0(fields, "slots_on_rank");
  statistics.experts_hit = count_at_least_0(fields, "experts_hit");
  statistics.largest = count_at_least_0(fields, "largest_count");
  statistics.tokens = count_at_least_0(fields, "tokens_on_rank");
  for (std::size_t i = 0; i < statistics.padded.size(); ++i) {
    statistics.padded[i] =
        count_at_least_0(fields, "padded_" + std::to_string(RoutingStatistics::kBlocks[i]));
  }
  return statistics;
}

bool read_grouped(const Fields& fields) {
  const std::string routing = fields.text("routing");
  if (routing != "plain" && routing != "grouped") {
    throw DataError(fields.where("routing") + " is \"" + routing + "\", expected plain or grouped");
  }
  return routing == "grouped";
}

// A size that `parts` ranks share.
void check_divides(const Fields& fields, std::string_view parts_name, std::int64_t parts,
                   std::string_view size_name, std::int64_t size) {
  if (size % parts != 0) {
    throw DataError(fields.where(parts_name) + " is " + std::to_string(parts) +
                    ", expected a divisor of " + std::string(size_name) + " (" +
                    std::to_string(size) + ")");
  }
}

struct NamedType {
  std::string_view name;
  ExpertType type;
  ExpertFormat format;
};

// Bytes per weight: spec/moe.md section 3.2; w4afp8, which is not there, as the prototype has it.
constexpr std::array<NamedType, 8> kTypes{{
    {"bfloat16", ExpertType::bfloat16, {2, 2, Element::bf16}},
    {"fp8", ExpertType::fp8, {1, 1, Element::fp8}},
    {"fp8_block", ExpertType::fp8_block, {1 + 4.0 / (128 * 128), 1.03, Element::fp8}},
    {"int4_wo", ExpertType::int4_wo, {0.5 + 2.0 / 128, 2, Element::bf16}},
    {"nvfp4", ExpertType::nvfp4, {0.5 + 1.0 / 16, 0.56, Element::fp4}},
    {"w4a16_mxfp4", ExpertType::w4a16_mxfp4, {0.5 + 1.0 / 32, 2, Element::bf16}},
    {"w4a8_mxfp4_mxfp8", ExpertType::w4a8_mxfp4_mxfp8, {0.5 + 1.0 / 32, 1.03, Element::fp8}},
    {"w4afp8", ExpertType::w4afp8, {0.5 + 2.0 / 128, 1, Element::fp8}},
}};

const NamedType& named(ExpertType type) {
  return *std::find_if(kTypes.begin(), kTypes.end(),
                       [&](const NamedType& named_type) { return named_type.type == type; });
}

}  // namespace

std::string_view to_string(ExpertType type) { return named(type).name; }

ExpertFormat expert_format(ExpertType type) { return named(type).format; }

ExpertType parse_expert_type(std::string_view name, const std::string& where) {
  std::string expected;
  for (const NamedType& type : kTypes) {
    if (type.name == name) return type.type;
    expected += (expected.empty() ? "" : ", ") + std::string(type.name);
  }
  throw DataError(where + " is \"" + std::string(name) + "\", expected one of " + expected);
}

ExpertBlockConfig ExpertBlockConfig::read(const Fields& fields) {
  ExpertBlockConfig block;
  block.type = parse_expert_type(fields.text("dtype"), fields.where("dtype"));
  read_numbers(fields, block);
  if (block.top_k > block.experts) {
    throw DataError(fields.where("topk") + " is " + std::to_string(block.top_k) +
                    ", expected at most E (" + std::to_string(block.experts) + ")");
  }
  check_divides(fields, "tp", block.tensor_parallel, "I", block.intermediate);
  check_divides(fields, "ep", block.expert_parallel, "E", block.experts);
  block.gated = fields.flag("gated");
  block.routing = parse_expert_routing(fields.text("distribution"), fields.where("distribution"));
  block.routing.grouped = read_grouped(fields);
  if (fields.has("kernel_source")) block.kernel = fields.text("kernel_source");
  if (fields.has("slots_on_rank")) block.statistics = read_statistics(fields);
  return block;
}

std::string ExpertBlockConfig::described() const {
  return " " + std::string(to_string(type)) + described_numbers(*this) +
         (gated ? "" : " without gate") + " " + to_string(routing) +
         (routing.grouped ? " grouped" : "");
}

std::vector<std::string> ExpertBlockConfig::cells() const {
  std::vector<std::string> all{std::string(to_string(type))};
  for (const Number<ExpertBlockConfig>& number : kNumbers) {
    all.push_back(std::to_string(this->*number.value));
  }
  all.insert(all.end(),
             {gated ? "1" : "0", routing.grouped ? "grouped" : "plain", to_string(routing)});
  return all;
}

const FeatureTable& ExpertBlockConfig::features() {
  static const FeatureTable none;
  return none;
}

void check(const ExpertBlockConfig& block) {
  check(routing_problem(block));
  if (std::min({block.hidden, block.intermediate, block.tensor_parallel}) < 1 ||
      block.intermediate % block.tensor_parallel != 0) {
    throw DataError("an expert block needs H, I, tp >= 1 and I divisible by tp");
  }
}

RoutingStatistics routing_statistics(const ExpertBlockConfig& block) {
  if (block.statistics) return *block.statistics;
  return routing_statistics(routing_problem(block), block.routing);
}

Work work(const ExpertBlockConfig& block) { return work(block, routing_statistics(block)); }

Work work(const ExpertBlockConfig& block, const RoutingStatistics& statistics) {
  const RankBlock rank = on_rank(block);
  return {rank.operations(statistics.rows),
          rank.weight_bytes(statistics.experts_hit) +
              kActivation16 * rank.hidden * (statistics.tokens + rank.tokens),
          rank.format.tensor};
}

double ExpertBlockRates::ops_per_us(Element tensor) const {
  if (tensor == Element::fp8 && fp8_ops_per_us > 0) return fp8_ops_per_us;
  if (tensor == Element::fp4 && fp4_ops_per_us > 0) return fp4_ops_per_us;
  return bf16_ops_per_us;
}

ExpertBlockRates expert_block_rates(const HardwareSpec& hardware) {
  ExpertBlockRates rates;
  rates.sms = static_cast<double>(hardware.num_sms);
  const double sm_cycles_per_us = rates.sms * hardware.sm_freq_mhz;
  rates.bf16_ops_per_us = hardware.tensor_bf16_ops_per_cycle_sm * sm_cycles_per_us;
  rates.fp8_ops_per_us = hardware.tensor_fp8_ops_per_cycle_sm * sm_cycles_per_us;
  rates.fp4_ops_per_us = hardware.tensor_fp4_ops_per_cycle_sm * sm_cycles_per_us;
  constexpr double kBytesPerUs = 1e3;  // of 1e9 bytes/s
  rates.dram_bytes_per_us = hardware.memory_bandwidth * kBytesPerUs;
  rates.l2_bytes_per_us = hardware.l2_bandwidth * kBytesPerUs;
  rates.l2_bytes = l2_bytes(hardware);
  return rates;
}

const RatioNames& ratio_names(const ExpertBlockConfig*) {
  static const RatioNames names = {
      "tc",    "w",    "al",   "af",  "abs",  "pad16",  "wv16",  "l216",  "q16",  "q216",
      "pad64", "wv64", "l264", "q64", "q264", "pad128", "wv128", "l2128", "q128", "q2128",
      "pada",  "wva",  "qa",   "qa2", "Ba",   "fill",   "wdr",   "nba",   "i64",  "i128",
      "i256",  "h256", "cm",   "ApD", "D",    "El",     "H",     "I",     "k",    "T",
      "A",     "E",    "imb",  "DEl", "TlT",  "hot",    "gate",  "route"};
  return names;
}

RatioFeatures ratios(const ExpertBlockConfig& block, const HardwareSpec& hardware) {
  return ratios(block, expert_block_rates(hardware));
}

RatioFeatures ratios(const ExpertBlockConfig& block, const ExpertBlockRates& rates) {
  return ratios(block, routing_statistics(block), rates);
}

RatioFeatures ratios(const ExpertBlockConfig& block, const RoutingStatistics& statistics,
                     const ExpertBlockRates& rates) {
  const RankBlock rank = on_rank(block);
  const RoutingStatistics s = at_least_few(statistics);
  const double tensor_us = rank.operations(s.rows) / rates.ops_per_us(rank.format.tensor);
  const double weight_bytes = rank.weight_bytes(s.experts_hit);
  const double weight_us = weight_bytes / rates.dram_bytes_per_us;
  const double local_us = rank.activation_bytes(s.rows) / rates.dram_bytes_per_us;
  // Engines that keep all tokens on every rank also fill and sum the rows of other ranks' experts.
  const double full_us = rank.activation_bytes(rank.all_rows()) / rates.dram_bytes_per_us;
  const double bound_us = std::max({tensor_us, weight_us, local_us / 2});
  const LnToBound ln_to_bound(bound_us);

  RatioFeatures result{bound_us,
                       {ln_to_bound(tensor_us), ln_to_bound(weight_us), ln_to_bound(local_us),
                        ln_to_bound(full_us), ln(bound_us)}};
  append_fixed_tiles(result.values, rank, s, rates, ln_to_bound);
  append_adaptive_tile(result.values, rank, s, rates, ln_to_bound);
  append_sizes(result.values, block, rank, s);
  const double router_us = rank.tokens * rank.experts * kRouterBytes / rates.dram_bytes_per_us;
  result.values.insert(result.values.end(),
                       {std::clamp(ln(weight_bytes / rates.l2_bytes), -4.0, 3.0), rank.gate,
                        ln_to_bound(router_us)});
  return result;
}

}  // namespace pw
