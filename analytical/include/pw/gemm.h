#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "pw/family.h"
#include "pw/features.h"
#include "pw/fields.h"
#include "pw/hardware_spec.h"
#include "pw/operand_copies.h"

namespace pw {

// How a GEMM kernel covers C[M,N] = A[M,K] B[K,N].
struct GemmTile {
  std::int64_t m = 0;  // tile_M, rows of C of one CTA
  std::int64_t n = 0;  // tile_N
  std::int64_t k = 0;  // tile_K, depth of one main-loop step
  std::int64_t cta_count = 0;
  bool split_k = false;  // is_split_k; the sm80 rules read the slices from cta_count instead
};

// Dense bf16 GEMM. Without a profiled tile the analysis chooses one (GemmTilePolicy).
struct GemmConfig {
  static constexpr std::string_view kName = "gemm";
  static const FeatureTable& features() { return tensor_memory_features(); }
  static GemmConfig read(const Fields& fields);  // tile_M ... cta_count are read if tile_M exists

  std::int64_t m = 0, n = 0, k = 0;
  std::optional<GemmTile> tile = std::nullopt;
  // Weight matrices that are used in turn (pw/operand_copies.h). Pipeline features do not see it.
  double weight_copies = kColdCopies;

  static constexpr std::array<Number<GemmConfig>, 3> kNumbers{
      {{"M", &GemmConfig::m, 1}, {"N", &GemmConfig::n, 1}, {"K", &GemmConfig::k, 1}}};
  std::int64_t tokens() const { return m; }
  template <class Hash>
  void add_rest(Hash& hash) const {
    hash.add(weight_copies);
    if (!tile) return;
    for (const std::int64_t number : {tile->m, tile->n, tile->k, tile->cta_count}) hash.add(number);
    hash.add(std::int64_t{tile->split_k});
  }
};

// Dense fp8 GEMM, operands of 1 byte; one 128x128x128 tile per CTA unless given.
struct Fp8GemmConfig {
  static constexpr std::string_view kName = "gemm_fp8";
  static const FeatureTable& features() { return tensor_memory_features(); }
  static Fp8GemmConfig read(const Fields& fields);

  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t tile_m = 128, tile_n = 128, tile_k = 128;
  double weight_copies = kColdCopies;  // as for GemmConfig

  static constexpr std::array<Number<Fp8GemmConfig>, 3> kNumbers{
      {{"M", &Fp8GemmConfig::m, 1}, {"N", &Fp8GemmConfig::n, 1}, {"K", &Fp8GemmConfig::k, 1}}};
  std::int64_t tokens() const { return m; }
  template <class Hash>
  void add_rest(Hash& hash) const {
    for (const std::int64_t number : {tile_m, tile_n, tile_k}) hash.add(number);
    hash.add(weight_copies);
  }
};

// Which tile a GEMM gets when its configuration names none.
enum class GemmTilePolicy {
  fixed_128,  // 128x128x64, one CTA per tile (sm80) or min(tiles, SMs) persistent CTAs (sm90)
  selected,   // select_gemm_tile
};

// The fastest tile of a fixed menu under a roofline-with-waves estimate of the kernel's duration.
// Source: "analytic tile selection" in docs/method.md.
struct TileSelection {
  std::int64_t tile_m = 0, tile_n = 0;
  std::int64_t split = 1;  // slices of K
  double estimate_us = 0;
};
TileSelection select_gemm_tile(std::int64_t m, std::int64_t n, std::int64_t k,
                               const HardwareSpec& hardware);

// The tile of `policy` as a launch configuration with tile_K 64.
GemmTile choose_gemm_tile(const GemmConfig& gemm, GemmTilePolicy policy,
                          const HardwareSpec& hardware);

}  // namespace pw
