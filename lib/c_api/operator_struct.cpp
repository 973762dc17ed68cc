#include "c_api/operator_struct.h"

#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

namespace pw {
namespace {

// The numbers of a struct under the names of CSV columns.
class StructFields : public Fields {
 public:
  using Numbers = std::vector<std::pair<std::string_view, std::int64_t>>;

  StructFields(std::size_t index, Numbers numbers) : index_(index), numbers_(std::move(numbers)) {}

  void set_text(std::string text) { text_ = std::move(text); }
  void set_lengths(const pw_attention& attention) { attention_ = &attention; }

  bool has(std::string_view name) const override { return find(name) != nullptr; }
  std::int64_t integer(std::string_view name) const override {
    const std::int64_t* found = find(name);
    if (found == nullptr) throw DataError(where(name) + " is missing");
    return *found;
  }
  double number(std::string_view name) const override { return static_cast<double>(integer(name)); }
  bool flag(std::string_view name) const override { return integer(name) != 0; }
  std::string text(std::string_view) const override { return text_; }
  std::vector<std::int64_t> integers(std::string_view name) const override {
    const std::int64_t* lengths =
        name == "q_lengths" ? attention_->q_lengths : attention_->kv_lengths;
    require(lengths, where(name));
    return {lengths, lengths + attention_->requests};
  }
  std::string where(std::string_view name) const override {
    return "operators[" + std::to_string(index_) + "]: " + std::string(name);
  }

 private:
  const std::int64_t* find(std::string_view name) const {
    for (const auto& [known, value] : numbers_) {
      if (known == name) return &value;
    }
    return nullptr;
  }

  std::size_t index_;
  Numbers numbers_;
  std::string text_;  // of the only text that the family has
  const pw_attention* attention_ = nullptr;
};

// What a caller in C gives for an enumerator may be any number, which C++ must not load as one.
template <class Enum>
auto number_of(const Enum& value) {
  std::underlying_type_t<Enum> number;
  std::memcpy(&number, &value, sizeof number);
  return number;
}

[[noreturn]] void unknown(std::size_t index, const char* what) {
  throw WrongUsage("operators[" + std::to_string(index) + "]: " + what);
}

std::string attention_type_of(const pw_attention& from, std::size_t index) {
  if (number_of(from.layout) != PW_KV_PAGED && number_of(from.layout) != PW_KV_RAGGED) {
    unknown(index, "layout is no pw_kv_layout");
  }
  const std::string layout = from.layout == PW_KV_PAGED ? "_paged" : "_ragged";
  switch (number_of(from.kernel)) {
    case PW_ATTENTION_AUTO:
      return "auto" + layout;
    case PW_ATTENTION_FA2:
      return "fa2" + layout;
    case PW_ATTENTION_FA3:
      return "fa3" + layout;
  }
  unknown(index, "kernel is no pw_attention_kernel");
}

AttentionConfig read_attention(const pw_attention& from, std::size_t index) {
  StructFields fields(index, {{"bs", static_cast<std::int64_t>(from.requests)},
                              {"nh", from.query_heads},
                              {"nkv", from.kv_heads},
                              {"hd", from.head_dim}});
  fields.set_text(attention_type_of(from, index));
  fields.set_lengths(from);
  AttentionConfig attention = AttentionConfig::read(fields);
  if (from.cold_kv != 0) attention.kv_copies = kColdCopies;
  return attention;
}

MoeConfig read_moe(const pw_moe& from, std::size_t index) {
  if (number_of(from.pass) != PW_MOE_W13 && number_of(from.pass) != PW_MOE_W2) {
    unknown(index, "pass is no pw_moe_pass");
  }
  StructFields fields(index, {{"M", from.tokens},
                              {"E", from.experts},
                              {"topk", from.top_k},
                              {"H", from.hidden},
                              {"N", from.intermediate}});
  fields.set_text(from.pass == PW_MOE_W2 ? "w2" : "w13");
  return MoeConfig::read(fields);
}

}  // namespace

OperatorConfig operator_config(const pw_operator& from, std::size_t index) {
  const auto& as = from.as;
  const auto gemm = [&] {
    return StructFields(index, {{"M", as.gemm.m}, {"N", as.gemm.n}, {"K", as.gemm.k}});
  };
  const auto rows = [&] {
    return StructFields(index, {{"seq", as.rows.rows}, {"dim", as.rows.width}});
  };
  switch (number_of(from.kind)) {
    case PW_GEMM:
      return GemmConfig::read(gemm());
    case PW_GEMM_FP8:
      return Fp8GemmConfig::read(gemm());
    case PW_ATTENTION:
      return read_attention(as.attention, index);
    case PW_RMSNORM:
      return RmsNormConfig::read(rows());
    case PW_SILU_MUL:
      return SiluMulConfig::read(rows());
    case PW_MOE:
      return read_moe(as.moe, index);
  }
  unknown(index, "kind is no pw_operator_kind");
}

}  // namespace pw
