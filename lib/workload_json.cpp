#include "io/json_file.h"
#include "pw/workload.h"

namespace pw {
namespace {

Json model_params_json(const ModelConfig& model) {
  return {{"hidden_size", model.hidden_size},
          {"num_attention_heads", model.num_attention_heads},
          {"num_key_value_heads", model.num_key_value_heads},
          {"head_dim", model.head_dim},
          {"intermediate_size", model.intermediate_size},
          {"vocab_size", model.vocab_size},
          {"num_hidden_layers", model.num_hidden_layers}};
}

Json gemm_json(const GemmEntry& entry) {
  Json gemm{{"name", entry.name},
            {"type", entry.type},
            {"M", entry.config.m},
            {"N", entry.config.n},
            {"K", entry.config.k}};
  if (const auto& tile = entry.config.tile) {
    gemm["tile_M"] = tile->m;
    gemm["tile_N"] = tile->n;
    gemm["tile_K"] = tile->k;
    gemm["cta_count"] = tile->cta_count;
    gemm["is_split_k"] = tile->split_k;
  }
  if (entry.fp8) gemm["dtype"] = "fp8";
  gemm["count"] = entry.count;
  return gemm;
}

Json attention_json(const AttentionEntry& entry) {
  const AttentionConfig& config = entry.config;
  Json attention{{"attention_type", attention_type(config.kernel, config.layout)},
                 {"bs", config.q_lengths.size()},
                 {"q_lengths", config.q_lengths},
                 {"kv_lengths", config.kv_lengths},
                 {"nh", config.query_heads},
                 {"nkv", config.kv_heads},
                 {"hd", config.head_dim}};
  if (!config.causal) {
    attention["causal"] = false;
  }
  attention["count"] = entry.count;
  return attention;
}

template <class Entry>
Json row_kernel_json(const Entry& entry) {
  return {{"seq", entry.config.seq}, {"dim", entry.config.dim}, {"count", entry.count}};
}

Json operators_json(const Iteration& iteration) {
  Json operators = Json::object();
  operators["gemm"] = Json::array();
  for (const GemmEntry& entry : iteration.gemms) {
    operators["gemm"].push_back(gemm_json(entry));
  }
  for (const AttentionEntry& entry : iteration.attention) {
    operators["attention"] = attention_json(entry);
  }
  for (const RmsNormEntry& entry : iteration.rmsnorm) {
    operators["rmsnorm"] = row_kernel_json(entry);
  }
  for (const SiluMulEntry& entry : iteration.silu_mul) {
    operators["siluandmul"] = row_kernel_json(entry);
  }
  operators["communication"] = Json::array();
  for (const CommunicationEntry& entry : iteration.communication) {
    operators["communication"].push_back({{"name", entry.name},
                                          {"type", entry.type},
                                          {"volume_bytes", entry.volume_bytes},
                                          {"count", entry.count}});
  }
  return operators;
}

Json iteration_json(const Iteration& iteration) {
  return {{"iteration", iteration.number},
          {"phase", to_string(iteration.phase)},
          {"batch_size", iteration.q_lengths.size()},
          {"q_lengths", iteration.q_lengths},
          {"kv_lengths", iteration.kv_lengths},
          {"num_tokens", num_tokens(iteration)},
          {"operators", operators_json(iteration)}};
}

}  // namespace

std::string workload_json(const Workload& workload, bool published_rules) {
  Json file{{"model", workload.model.architecture},
            {"model_params", model_params_json(workload.model)},
            {"tp_size", workload.tp_size},
            {"pp_size", workload.pp_size},
            {"iterations", Json::array()}};
  for (const Iteration& iteration : workload.iterations) {
    file["iterations"].push_back(iteration_json(iteration));
  }
  if (!published_rules) {
    if (!workload.model.stem.empty()) file["config"] = workload.model.stem;
    if (!workload.trace.empty()) file["trace"] = workload.trace;
    file["tied_embeddings"] = workload.model.tied_embeddings;
    file["notes"] = workload.notes;
  }
  return to_json_text(file);
}

}  // namespace pw
