#include "operator_key.h"

#include <cstring>
#include <initializer_list>

namespace pw {
namespace {

// Two independent 64-bit hashes of a sequence of numbers.
class Hash {
 public:
  void add(std::int64_t number) {
    const auto word = static_cast<std::uint64_t>(number);
    low_ = mixed(low_ ^ word, 0x9E3779B97F4A7C15u);
    high_ = mixed(high_ ^ word, 0xC2B2AE3D27D4EB4Fu);
  }
  void add(std::initializer_list<std::int64_t> numbers) {
    for (const std::int64_t number : numbers) add(number);
  }
  void add(const std::vector<std::int64_t>& numbers) {
    add(static_cast<std::int64_t>(numbers.size()));
    for (const std::int64_t number : numbers) add(number);
  }
  void add(double number) {
    std::int64_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    add(bits);
  }
  OperatorKey key() const { return {finished(low_), finished(high_)}; }

 private:
  // Each is a bijection of 64-bit words: a sequence that differs in one number keeps differing.
  static std::uint64_t mixed(std::uint64_t word, std::uint64_t odd) {
    word *= odd;
    return word ^ (word >> 32);
  }
  static std::uint64_t finished(std::uint64_t word) {
    return mixed(mixed(mixed(word, 0xFF51AFD7ED558CCDu), 0xC4CEB9FE1A85EC53u), 0x9E3779B97F4A7C15u);
  }

  std::uint64_t low_ = 0x243F6A8885A308D3u, high_ = 0x13198A2E03707344u;  // digits of pi
};

// Everything that distinguishes two problems of a family.
void add(Hash& hash, const GemmConfig& c) {
  hash.add({c.m, c.n, c.k});
  hash.add(c.weight_copies);
  if (c.tile) {
    hash.add({c.tile->m, c.tile->n, c.tile->k, c.tile->cta_count, c.tile->split_k});
  }
}
void add(Hash& hash, const Fp8GemmConfig& c) {
  hash.add({c.m, c.n, c.k, c.tile_m, c.tile_n, c.tile_k});
  hash.add(c.weight_copies);
}
void add(Hash& hash, const AttentionConfig& c) {
  hash.add({static_cast<std::int64_t>(c.kernel), static_cast<std::int64_t>(c.layout), c.query_heads,
            c.kv_heads, c.head_dim, c.causal});
  hash.add(c.kv_copies);
  hash.add(c.q_lengths);
  hash.add(c.kv_lengths);
}
void add(Hash& hash, const RmsNormConfig& c) { hash.add({c.seq, c.dim}); }
void add(Hash& hash, const SiluMulConfig& c) { hash.add({c.seq, c.dim, c.gated}); }
void add(Hash& hash, const MoeConfig& c) {
  hash.add(
      {static_cast<std::int64_t>(c.pass), c.tokens, c.experts, c.top_k, c.hidden, c.intermediate});
}

}  // namespace

OperatorKey key_of(const OperatorConfig& config) {
  Hash hash;
  hash.add(static_cast<std::int64_t>(config.index()));
  std::visit([&](const auto& c) { add(hash, c); }, config);
  return hash.key();
}

}  // namespace pw
