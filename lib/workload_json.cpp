#include <stdexcept>

#include "decoder_json.h"
#include "fact_json.h"
#include "io/json_file.h"
#include "pw/workload.h"

namespace pw {
namespace {

// Of the first layers; "decoder" tells the rest where there is one.
Json model_params_json(const Decoder& decoder) {
  const LayerGroup& group = decoder.layers.front();
  return {{"hidden_size", decoder.hidden_size},
          {"num_attention_heads", group.attention.heads},
          {"num_key_value_heads", group.attention.kv_heads},
          {"head_dim", group.attention.head_dim},
          {"intermediate_size", group.mlp.width},
          {"vocab_size", decoder.vocab_size},
          {"num_hidden_layers", layer_count(decoder)}};
}

Json gemm_json(const Op& op) {
  Json gemm{{"name", op.name}, {"type", op.type}};
  const auto add_shape = [&](const auto& config) {
    gemm["M"] = config.m;
    gemm["N"] = config.n;
    gemm["K"] = config.k;
  };
  if (const auto* config = std::get_if<GemmConfig>(&op.problem)) {
    add_shape(*config);
    if (const auto& tile = config->tile) {
      gemm["tile_M"] = tile->m;
      gemm["tile_N"] = tile->n;
      gemm["tile_K"] = tile->k;
      gemm["cta_count"] = tile->cta_count;
      gemm["is_split_k"] = tile->split_k;
    }
  } else {
    add_shape(std::get<Fp8GemmConfig>(op.problem));
    gemm["dtype"] = "fp8";
  }
  gemm["count"] = op.calls;
  return gemm;
}

Json attention_json(const Op& op) {
  const auto& config = std::get<AttentionConfig>(op.problem);
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
  attention["count"] = op.calls;
  return attention;
}

Json rmsnorm_json(const Op& op) {
  const auto& config = std::get<RmsNormConfig>(op.problem);
  return {{"seq", config.seq}, {"dim", config.dim}, {"count", op.calls}};
}

Json silu_mul_json(const Op& op) {
  const auto& config = std::get<SiluMulConfig>(op.problem);
  Json json{{"seq", config.seq}, {"dim", config.dim}};
  if (!config.gated) json["gated"] = false;
  json["count"] = op.calls;
  return json;
}

// An object, as in published files; of models whose layers differ a list of them.
void add_to_group(const Op& op, Json operation, Json& operators) {
  Json& group = operators[std::string(to_string(op.group))];
  if (group.is_null()) {
    group = std::move(operation);
    return;
  }
  if (group.is_object()) group = Json::array({std::move(group)});
  group.push_back(std::move(operation));
}

void add_operator(const Op& op, Json& operators) {
  switch (op.group) {
    case OperatorGroup::gemm:
      operators["gemm"].push_back(gemm_json(op));
      return;
    case OperatorGroup::attention:
      return add_to_group(op, attention_json(op), operators);
    case OperatorGroup::rmsnorm:
      return add_to_group(op, rmsnorm_json(op), operators);
    case OperatorGroup::siluandmul:
      return add_to_group(op, silu_mul_json(op), operators);
    case OperatorGroup::communication:
    case OperatorGroup::engine:
      break;  // no operators of a model
  }
  throw std::logic_error("an operator of group " + std::string(to_string(op.group)));
}

Json operators_json(const Step& step) {
  Json operators = Json::object();
  operators["gemm"] = Json::array();
  for_each_op(step, [&](const Op& op) { add_operator(op, operators); });
  operators["communication"] = Json::array();
  for (const Transfer& transfer : step.body->transfers) {
    operators["communication"].push_back({{"name", transfer.name},
                                          {"type", transfer.type},
                                          {"volume_bytes", transfer.volume_bytes},
                                          {"count", transfer.calls}});
  }
  return operators;
}

Json step_json(const Step& step) {
  return {{"iteration", step.number},
          {"phase", to_string(step.phase)},
          {"batch_size", step.batch.requests()},
          {"q_lengths", step.batch.q_lengths},
          {"kv_lengths", step.batch.kv_lengths},
          {"num_tokens", num_tokens(step.batch)},
          {"operators", operators_json(step)}};
}

}  // namespace

std::string workload_json(const Workload& workload, bool published_rules) {
  Json file{{"model", workload.model.architecture},
            {"model_params", model_params_json(workload.model)},
            {"tp_size", workload.tp_size},
            {"pp_size", workload.pp_size},
            {"iterations", Json::array()}};
  for (const Step& step : workload.steps) {
    file["iterations"].push_back(step_json(step));
  }
  if (!published_rules) {
    if (!workload.model.stem.empty()) file["config"] = workload.model.stem;
    if (!workload.trace.empty()) file["trace"] = workload.trace;
    file["tied_embeddings"] = workload.model.tied_embeddings;
    if (!is_plain(workload.model)) file["decoder"] = decoder_json(workload.model);
    file["facts"] = facts_json(workload.facts);
    file["schema_version"] = kSchemaVersion;
  }
  return to_json_text(file);
}

}  // namespace pw
