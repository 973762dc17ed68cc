#include "operator_key.h"

#include <cstring>

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

}  // namespace

OperatorKey key_of(const OperatorConfig& config) {
  Hash hash;
  hash.add(static_cast<std::int64_t>(config.index()));
  std::visit([&](const auto& c) { add_problem(c, hash); }, config);
  return hash.key();
}

}  // namespace pw
