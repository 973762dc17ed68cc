#include <algorithm>
#include <array>
#include <set>

#include "comma_list.h"
#include "decoder_json.h"
#include "fact_json.h"
#include "io/json_file.h"
#include "operator_key.h"
#include "pw/fields.h"
#include "pw/workload.h"
#include "workload_steps.h"

namespace pw {
namespace {

constexpr std::array<std::string_view, 5> kOperatorKeys{"gemm", "attention", "rmsnorm",
                                                        "siluandmul", "communication"};

// A member that is an object or, with an index, an element of an array.
JsonFields nested(const JsonFields& fields, std::string_view name) {
  return {fields.object(name), fields.where(name)};
}
JsonFields nested(const JsonFields& fields, std::string_view name, std::size_t index) {
  return {fields.array(name)[index], fields.where(name) + "[" + std::to_string(index) + "]"};
}

bool contains(const Json& object, std::string_view name) {
  return object.find(name) != object.end();
}

// What the operators of one iteration name that no model of ours can answer.
std::vector<std::string> unknown_operators(const JsonFields& iteration) {
  std::vector<std::string> unknown;
  for (const auto& item : iteration.object("operators").items()) {
    if (std::find(kOperatorKeys.begin(), kOperatorKeys.end(), item.key()) == kOperatorKeys.end()) {
      unknown.push_back("operator " + item.key());
    }
  }
  const JsonFields operators = nested(iteration, "operators");
  if (contains(iteration.object("operators"), "communication")) {
    for (std::size_t i = 0; i < operators.array("communication").size(); ++i) {
      const JsonFields entry = nested(operators, "communication", i);
      if (collective_of(entry.text("name"), entry.text("type")).empty()) {
        unknown.push_back("collective " + entry.text("name"));
      }
    }
  }
  return unknown;
}

void reject_unknown_operators(const JsonFields& file) {
  std::vector<std::string> all;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < file.array("iterations").size(); ++i) {
    for (const std::string& name : unknown_operators(nested(file, "iterations", i))) {
      if (seen.insert(name).second) {
        all.push_back(name + " (" + nested(file, "iterations", i).where("operators") + ")");
      }
    }
  }
  if (all.empty()) {
    return;
  }
  throw DataError("no model for " + comma_list(all) +
                  "; expected the operators gemm, attention, rmsnorm, siluandmul and "
                  "communication, the collectives all_reduce and send_recv");
}

std::int64_t read_count(const JsonFields& fields) { return integer_at_least(fields, "count", 0); }

void require_same(const JsonFields& fields, std::string_view name, std::int64_t expected,
                  const std::string& what) {
  if (const std::int64_t found = fields.integer(name); found != expected) {
    throw DataError(fields.where(name) + " is " + std::to_string(found) + ", expected " + what +
                    " = " + std::to_string(expected));
  }
}

void check_lengths(const JsonFields& fields, const std::vector<std::int64_t>& q_lengths,
                   const std::vector<std::int64_t>& kv_lengths) {
  if (q_lengths.empty()) {
    throw DataError(fields.where("q_lengths") + " is empty, expected at least one request");
  }
  if (q_lengths.size() != kv_lengths.size()) {
    throw DataError(fields.where("kv_lengths") + " has " + std::to_string(kv_lengths.size()) +
                    " entries, expected " + std::to_string(q_lengths.size()) + " as q_lengths");
  }
  for (std::size_t i = 0; i < q_lengths.size(); ++i) {
    const std::string index = "[" + std::to_string(i) + "] is ";
    if (q_lengths[i] < 1) {
      throw DataError(fields.where("q_lengths") + index + std::to_string(q_lengths[i]) +
                      ", expected at least 1");
    }
    if (kv_lengths[i] < q_lengths[i]) {
      throw DataError(fields.where("kv_lengths") + index + std::to_string(kv_lengths[i]) +
                      ", expected at least q_lengths = " + std::to_string(q_lengths[i]));
    }
  }
}

// Of `entries` whose last one was just read.
template <class Entry>
void reject_duplicate(const std::vector<Entry>& entries, const JsonFields& fields) {
  const std::string& name = entries.back().name;
  if (std::any_of(entries.begin(), entries.end() - 1,
                  [&](const Entry& entry) { return entry.name == name; })) {
    throw DataError(fields.where("name") + " is \"" + name +
                    "\" a second time in this iteration, expected distinct names");
  }
}

// Whether the operands are fp8; 16 bit when the entry does not tell.
bool read_fp8(const JsonFields& fields) {
  if (!fields.has("dtype")) return false;
  const std::string dtype = fields.text("dtype");
  if (dtype == "fp8") return true;
  if (dtype == "bfloat16" || dtype == "float16") return false;
  throw DataError(fields.where("dtype") + " is \"" + dtype +
                  "\", expected fp8, bfloat16 or float16");
}

Op read_gemm(const JsonFields& fields) {
  Op op{OperatorGroup::gemm, fields.text("name"), fields.text("type"), {}, read_count(fields)};
  if (read_fp8(fields)) {
    op.problem = Fp8GemmConfig::read(fields);
  } else {
    op.problem = GemmConfig::read(fields);
  }
  return op;
}

// An operator of a group that has one.
Op unnamed_op(OperatorGroup group, OperatorConfig problem, const JsonFields& fields) {
  return {group, std::string(to_string(group)), "", std::move(problem), read_count(fields)};
}

Op read_attention(const JsonFields& fields, Phase phase) {
  AttentionConfig config = AttentionConfig::read(fields);
  check_lengths(fields, config.q_lengths, config.kv_lengths);
  config.kv_copies = kv_copies(phase);
  return unnamed_op(OperatorGroup::attention, std::move(config), fields);
}

// RMSNorm and SiLU alike; their readers allow seq = 0, which no iteration has.
template <class Config>
Op read_row_kernel(OperatorGroup group, const JsonFields& fields) {
  integer_at_least(fields, "seq", 1);
  return unnamed_op(group, Config::read(fields), fields);
}

Transfer read_transfer(const JsonFields& fields) {
  return {fields.text("name"), fields.text("type"), integer_at_least(fields, "volume_bytes", 1),
          read_count(fields)};
}

// The operators of a group: an object, or a list of them where layers differ.
std::vector<JsonFields> entries_of(const JsonFields& group, const Json& operators,
                                   std::string_view name) {
  std::vector<JsonFields> entries;
  const auto found = operators.find(name);
  if (found == operators.end()) return entries;
  if (!found->is_array()) {
    entries.push_back(nested(group, name));
    return entries;
  }
  for (std::size_t i = 0; i < found->size(); ++i) entries.push_back(nested(group, name, i));
  return entries;
}

void read_operators(Step& step, const JsonFields& fields, const Json& operators) {
  if (operators.empty()) {
    throw DataError(fields.where("operators") + " is empty, expected at least one operator");
  }
  StepBody body;
  const JsonFields group(operators, fields.where("operators"));
  for (std::size_t i = 0; contains(operators, "gemm") && i < group.array("gemm").size(); ++i) {
    const JsonFields unnamed = nested(group, "gemm", i);
    // The name in messages beside the index: "...gemm[3] (down_proj).K".
    const JsonFields gemm(group.array("gemm")[i], group.where("gemm") + "[" + std::to_string(i) +
                                                      "] (" + unnamed.text("name") + ")");
    body.before_attention.push_back(read_gemm(gemm));
    reject_duplicate(body.before_attention, gemm);
  }
  for (const JsonFields& entry : entries_of(group, operators, "attention")) {
    add_named(read_attention(entry, step.phase), step.attention);
  }
  for (const JsonFields& entry : entries_of(group, operators, "rmsnorm")) {
    add_named(read_row_kernel<RmsNormConfig>(OperatorGroup::rmsnorm, entry), body.after_attention);
  }
  for (const JsonFields& entry : entries_of(group, operators, "siluandmul")) {
    add_named(read_row_kernel<SiluMulConfig>(OperatorGroup::siluandmul, entry),
              body.after_attention);
  }
  if (contains(operators, "communication")) {
    for (std::size_t i = 0; i < group.array("communication").size(); ++i) {
      const JsonFields entry = nested(group, "communication", i);
      body.transfers.push_back(read_transfer(entry));
      reject_duplicate(body.transfers, entry);
    }
  }
  step.body = std::make_shared<const StepBody>(std::move(body));
}

Phase read_phase(const JsonFields& fields) {
  const std::string text = fields.text("phase");
  for (const Phase phase : {Phase::prefill, Phase::decode}) {
    if (text == to_string(phase)) {
      return phase;
    }
  }
  throw DataError(fields.where("phase") + " is \"" + text + "\", expected prefill or decode");
}

Step read_step(const JsonFields& fields) {
  Step step;
  step.number = integer_at_least(fields, "iteration", 1);
  step.phase = read_phase(fields);
  step.batch.q_lengths = fields.integers("q_lengths");
  step.batch.kv_lengths = fields.integers("kv_lengths");
  check_lengths(fields, step.batch.q_lengths, step.batch.kv_lengths);
  require_same(fields, "batch_size", step.batch.requests(), "the number of q_lengths");
  require_same(fields, "num_tokens", num_tokens(step.batch), "the sum of q_lengths");
  read_operators(step, fields, fields.object("operators"));
  return step;
}

bool same_op(const Op& a, const Op& b) {
  return a.name == b.name && a.type == b.type && a.calls == b.calls && a.group == b.group &&
         key_of(a.problem) == key_of(b.problem);
}
bool same_transfer(const Transfer& a, const Transfer& b) {
  return a.name == b.name && a.type == b.type && a.calls == b.calls &&
         a.volume_bytes == b.volume_bytes;
}

// Steps with equal bodies share one, as those of a generated workload do.
void share_body(const Step& before, Step& step) {
  const StepBody &a = *before.body, &b = *step.body;
  const auto same = [](const auto& left, const auto& right, const auto& same_entry) {
    return std::equal(left.begin(), left.end(), right.begin(), right.end(), same_entry);
  };
  if (before.phase == step.phase && same(a.before_attention, b.before_attention, same_op) &&
      same(a.after_attention, b.after_attention, same_op) &&
      same(a.transfers, b.transfers, same_transfer)) {
    step.body = before.body;
  }
}

ModelConfig read_model_params(const JsonFields& file) {
  const JsonFields params = nested(file, "model_params");
  ModelConfig model;
  model.architecture = file.text("model");
  model.hidden_size = integer_at_least(params, "hidden_size", 1);
  model.vocab_size = integer_at_least(params, "vocab_size", 1);
  LayerGroup layers;
  layers.attention.heads = integer_at_least(params, "num_attention_heads", 1);
  layers.attention.kv_heads = integer_at_least(params, "num_key_value_heads", 1);
  layers.attention.head_dim = integer_at_least(params, "head_dim", 1);
  layers.attention.qk_norm = has_qk_norm(model.architecture);
  layers.mlp.width = integer_at_least(params, "intermediate_size", 1);
  layers.count = integer_at_least(params, "num_hidden_layers", 1);
  model.layers.push_back(layers);
  if (file.has("decoder")) read_decoder(nested(file, "decoder"), model);
  return model;
}

// What only our own files tell.
void read_origin(Workload& workload, const JsonFields& file) {
  if (file.has("config")) {
    workload.model.stem = file.text("config");
  }
  if (file.has("trace")) {
    workload.trace = file.text("trace");
  }
  if (file.has("tied_embeddings")) {
    workload.model.tied_embeddings = file.flag("tied_embeddings");
  }
  workload.facts = read_facts(file);
  if (!file.has("notes")) return;  // of files before schema_version 1
  for (std::size_t i = 0; i < file.array("notes").size(); ++i) {
    const Json& note = file.array("notes")[i];
    if (!note.is_string()) {
      throw DataError(file.where("notes") + "[" + std::to_string(i) + "] is no text");
    }
    workload.facts.add({FactKind::note, note.get<std::string>(), {}});
  }
}

}  // namespace

Workload read_workload(const std::filesystem::path& path) {
  const Json json = read_json(path);
  const JsonFields file(json, path.string());
  reject_unknown_operators(file);
  Workload workload;
  workload.stem = path.stem().string();
  workload.model = read_model_params(file);
  read_origin(workload, file);
  workload.tp_size = integer_at_least(file, "tp_size", 1);
  workload.pp_size = integer_at_least(file, "pp_size", 1);
  for (std::size_t i = 0; i < file.array("iterations").size(); ++i) {
    const JsonFields fields = nested(file, "iterations", i);
    Step step = read_step(fields);
    if (!workload.steps.empty()) {
      const Step& before = workload.steps.back();
      if (step.number <= before.number) {
        throw DataError(fields.where("iteration") + " is " + std::to_string(step.number) +
                        ", expected a larger number than that of the iteration before");
      }
      share_body(before, step);
    }
    workload.steps.push_back(std::move(step));
  }
  if (workload.steps.empty()) {
    throw DataError(file.where("iterations") + " is empty, expected at least one iteration");
  }
  const std::vector<std::string> families = families_of(workload);
  workload.model.fp8 =
      std::find(families.begin(), families.end(), Fp8GemmConfig::kName) != families.end();
  return workload;
}

}  // namespace pw
