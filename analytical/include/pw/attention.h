#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pw/family.h"
#include "pw/features.h"
#include "pw/fields.h"
#include "pw/hardware_spec.h"

namespace pw {

enum class AttentionKernel {
  automatic,  // fa3 on Hopper, fa2 elsewhere
  fa2,
  fa3,
  cutlass,  // CUTLASS for SM100, the Blackwell of data centers; the layout makes no difference
  ck,       // Composable Kernel, of AMD GPUs; all requests of one length, the layout as above
};
enum class KvLayout { ragged, paged };

// How FA2 tasks come to the SMs.
enum class Fa2Schedule {
  published,  // every task retires after one step: the schedule behind all published checkpoints
  faithful,   // a task occupies its slot for as many steps as it has KV iterations
};

// Causal (by default) attention over a batch of requests, bf16 queries and KV.
struct AttentionConfig {
  static constexpr std::string_view kName = "attn";
  static constexpr std::array<std::string_view, 7> kProblemColumns{
      "attention_type", "bs", "q_lengths", "kv_lengths", "nh", "nkv", "hd"};
  static const FeatureTable& features() { return tensor_xu_memory_features(); }
  static AttentionConfig read(const Fields& fields);

  AttentionKernel kernel = AttentionKernel::automatic;
  KvLayout layout = KvLayout::ragged;
  std::vector<std::int64_t> q_lengths;   // new tokens of each request
  std::vector<std::int64_t> kv_lengths;  // context of each request, the new tokens included
  std::int64_t query_heads = 0;          // nh, on this rank
  std::int64_t kv_heads = 0;             // nkv, on this rank
  std::int64_t head_dim = 0;             // hd
  bool causal = true;
  // Contexts that are used in turn (pw/operand_copies.h): benchmarks repeat one; in the decode step
  // of a model it is kColdCopies. Pipeline features do not see it.
  double kv_copies = 1;

  static constexpr std::array<Number<AttentionConfig>, 3> kNumbers{
      {{"nh", &AttentionConfig::query_heads, 1},
       {"nkv", &AttentionConfig::kv_heads, 1},
       {"hd", &AttentionConfig::head_dim, 1}}};
  std::int64_t tokens() const;  // the sum of q_lengths
  std::string described() const;
  std::vector<std::string> cells() const;
  template <class Hash>
  void add_rest(Hash& hash) const {
    hash.add(static_cast<std::int64_t>(kernel));
    hash.add(static_cast<std::int64_t>(layout));
    hash.add(std::int64_t{causal});
    hash.add(kv_copies);
    hash.add(q_lengths);
    hash.add(kv_lengths);
  }
};

AttentionKernel automatic_kernel(const HardwareSpec& hardware);
// Whether engines run this kernel on this GPU.
bool runs_on(AttentionKernel kernel, const HardwareSpec& hardware);

// "fa2_ragged" and the like; `auto_ragged` and `auto_paged` stand for AttentionKernel::automatic.
void parse_attention_type(const Fields& fields, std::string_view name, AttentionConfig& attention);
std::string attention_type(AttentionKernel kernel, KvLayout layout);

}  // namespace pw
