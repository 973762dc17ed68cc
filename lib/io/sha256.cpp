#include "io/sha256.h"

#include <algorithm>
#include <functional>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace pw {
namespace {

// Fractional parts of the cube roots of the first 64 primes, FIPS 180-4 section 4.2.2.
alignas(16) constexpr std::array<std::uint32_t, 64> kRoundConstants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using State = Sha256::State;

// Fractional parts of the square roots of the first eight primes, section 5.3.3.
constexpr State kInitialState = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

constexpr std::size_t kBlockBytes = 64;

constexpr std::uint32_t rotate(std::uint32_t x, int count) {
  return x >> count | x << (32 - count);
}

// Names as in section 6.2.2.
void add_block(State& state, const char* block) {
  std::array<std::uint32_t, 64> w;
  for (std::size_t t = 0; t < 16; ++t) {
    w[t] = 0;
    for (std::size_t i = 0; i < 4; ++i)
      w[t] = w[t] << 8 | static_cast<std::uint8_t>(block[4 * t + i]);
  }
  for (std::size_t t = 16; t < 64; ++t) {
    const std::uint32_t s0 = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ w[t - 15] >> 3;
    const std::uint32_t s1 = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ w[t - 2] >> 10;
    w[t] = s1 + w[t - 7] + s0 + w[t - 16];
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t t = 0; t < 64; ++t) {
    const std::uint32_t sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const std::uint32_t t1 = h + sum1 + ((e & f) ^ (~e & g)) + kRoundConstants[t] + w[t];
    const std::uint32_t sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const std::uint32_t t2 = sum0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const State change = {a, b, c, d, e, f, g, h};
  std::transform(state.begin(), state.end(), change.begin(), state.begin(), std::plus<>());
}

void add_blocks(State& state, const char* bytes, std::size_t blocks) {
  for (std::size_t i = 0; i < blocks; ++i) add_block(state, bytes + i * kBlockBytes);
}

#if defined(__x86_64__)

bool has_sha_instructions() {
  constexpr unsigned kSha = 1U << 29;    // leaf 7, EBX
  constexpr unsigned kSse41 = 1U << 19;  // leaf 1, ECX; implies SSSE3 on every such processor
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool sha = __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & kSha) != 0;
  return sha && __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & kSse41) != 0;
}

// The same with the processor's SHA instructions, six times as fast: reading a large CSV would
// spend a third of its time on the digest otherwise. The two halves of the state and the order of
// operands are those of the Intel SHA extensions' definition of SHA256RNDS2, SHA256MSG1 and
// SHA256MSG2; one pass of the inner loop is four rounds.
__attribute__((target("sha,sse4.1"))) void add_blocks_with_sha(State& state, const char* bytes,
                                                               std::size_t blocks) {
  const auto load = [](const void* from) __attribute__((target("sha,sse4.1"))) {
    return _mm_loadu_si128(static_cast<const __m128i*>(from));
  };
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  const __m128i badc = _mm_shuffle_epi32(load(&state[0]), 0xB1);
  const __m128i hgfe = _mm_shuffle_epi32(load(&state[4]), 0x1B);
  __m128i abef = _mm_alignr_epi8(badc, hgfe, 8);
  __m128i cdgh = _mm_blend_epi16(hgfe, badc, 0xF0);
  for (; blocks > 0; --blocks, bytes += kBlockBytes) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i w[4];  // the last 16 words of the message schedule
    for (std::size_t four = 0; four < 16; ++four) {
      __m128i& next = w[four % 4];
      if (four < 4) {
        next = _mm_shuffle_epi8(load(bytes + 16 * four), big_endian);
      } else {
        const __m128i last = w[(four + 3) % 4];
        const __m128i w_minus_7 = _mm_alignr_epi8(last, w[(four + 2) % 4], 4);
        next = _mm_sha256msg1_epu32(next, w[(four + 1) % 4]);
        next = _mm_sha256msg2_epu32(_mm_add_epi32(next, w_minus_7), last);
      }
      const __m128i sum = _mm_add_epi32(next, load(&kRoundConstants[4 * four]));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0E));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1B);
  const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xB1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(&state[0]), _mm_blend_epi16(feba, dchg, 0xF0));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(&state[4]), _mm_alignr_epi8(dchg, feba, 8));
}

#endif

auto fastest() {
#if defined(__x86_64__)
  static const bool has_sha = has_sha_instructions();
  if (has_sha) return &add_blocks_with_sha;
#endif
  return &add_blocks;
}

}  // namespace

Sha256::Sha256(Sha256Method method)
    : add_blocks_(method == Sha256Method::fastest ? fastest() : add_blocks),
      state_(kInitialState) {}

void Sha256::add(std::string_view bytes) {
  bytes_ += bytes.size();
  if (!tail_.empty()) {
    const std::string_view missing = bytes.substr(0, kBlockBytes - tail_.size());
    tail_ += missing;
    bytes.remove_prefix(missing.size());
    if (tail_.size() < kBlockBytes) return;
    add_blocks_(state_, tail_.data(), 1);
    tail_.clear();
  }
  const std::size_t whole_blocks = bytes.size() / kBlockBytes;
  add_blocks_(state_, bytes.data(), whole_blocks);
  tail_ = bytes.substr(whole_blocks * kBlockBytes);
}

std::string Sha256::hex() const {
  // A one bit, zeros, and the length in bits as eight big-endian bytes fill the last block or two.
  State state = state_;
  std::string tail = tail_ + '\x80';
  while (tail.size() % kBlockBytes != kBlockBytes - 8) tail += '\0';
  for (int shift = 56; shift >= 0; shift -= 8) tail += static_cast<char>(bytes_ * 8 >> shift);
  add_blocks_(state, tail.data(), tail.size() / kBlockBytes);

  std::string hex;
  for (const std::uint32_t word : state) {
    for (int shift = 28; shift >= 0; shift -= 4) hex += "0123456789abcdef"[word >> shift & 0xF];
  }
  return hex;
}

std::string sha256_hex(std::string_view bytes, Sha256Method method) {
  Sha256 digest(method);
  digest.add(bytes);
  return digest.hex();
}

}  // namespace pw
