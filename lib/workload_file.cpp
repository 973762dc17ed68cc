#include <algorithm>
#include <array>
#include <set>

#include "comma_list.h"
#include "io/json_file.h"
#include "pw/fields.h"
#include "pw/workload.h"

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

GemmEntry read_gemm(const JsonFields& fields) {
  return {fields.text("name"), fields.text("type"), GemmConfig::read(fields), read_count(fields),
          read_fp8(fields)};
}

AttentionEntry read_attention(const JsonFields& fields) {
  AttentionEntry entry{AttentionConfig::read(fields), read_count(fields)};
  check_lengths(fields, entry.config.q_lengths, entry.config.kv_lengths);
  return entry;
}

// RMSNorm and SiLU alike; their readers allow seq = 0, which no iteration has.
template <class Entry>
Entry read_row_kernel(const JsonFields& fields) {
  integer_at_least(fields, "seq", 1);
  Entry entry;
  entry.config = decltype(entry.config)::read(fields);
  entry.count = read_count(fields);
  return entry;
}

CommunicationEntry read_communication(const JsonFields& fields) {
  return {fields.text("name"), fields.text("type"), integer_at_least(fields, "volume_bytes", 1),
          read_count(fields)};
}

void read_operators(Iteration& iteration, const JsonFields& fields, const Json& operators) {
  if (operators.empty()) {
    throw DataError(fields.where("operators") + " is empty, expected at least one operator");
  }
  const JsonFields group(operators, fields.where("operators"));
  for (std::size_t i = 0; contains(operators, "gemm") && i < group.array("gemm").size(); ++i) {
    const JsonFields unnamed = nested(group, "gemm", i);
    // The name in messages beside the index: "...gemm[3] (down_proj).K".
    const JsonFields gemm(group.array("gemm")[i], group.where("gemm") + "[" + std::to_string(i) +
                                                      "] (" + unnamed.text("name") + ")");
    iteration.gemms.push_back(read_gemm(gemm));
    reject_duplicate(iteration.gemms, gemm);
  }
  if (contains(operators, "attention")) {
    iteration.attention.push_back(read_attention(nested(group, "attention")));
    iteration.attention.back().config.kv_copies = kv_copies(iteration.phase);
  }
  if (contains(operators, "rmsnorm")) {
    iteration.rmsnorm.push_back(read_row_kernel<RmsNormEntry>(nested(group, "rmsnorm")));
  }
  if (contains(operators, "siluandmul")) {
    iteration.silu_mul.push_back(read_row_kernel<SiluMulEntry>(nested(group, "siluandmul")));
  }
  if (contains(operators, "communication")) {
    for (std::size_t i = 0; i < group.array("communication").size(); ++i) {
      const JsonFields entry = nested(group, "communication", i);
      iteration.communication.push_back(read_communication(entry));
      reject_duplicate(iteration.communication, entry);
    }
  }
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

Iteration read_iteration(const JsonFields& fields) {
  Iteration iteration;
  iteration.number = integer_at_least(fields, "iteration", 1);
  iteration.phase = read_phase(fields);
  iteration.q_lengths = fields.integers("q_lengths");
  iteration.kv_lengths = fields.integers("kv_lengths");
  check_lengths(fields, iteration.q_lengths, iteration.kv_lengths);
  require_same(fields, "batch_size", static_cast<std::int64_t>(iteration.q_lengths.size()),
               "the number of q_lengths");
  require_same(fields, "num_tokens", num_tokens(iteration), "the sum of q_lengths");
  read_operators(iteration, fields, fields.object("operators"));
  return iteration;
}

ModelConfig read_model_params(const JsonFields& file) {
  const JsonFields params = nested(file, "model_params");
  ModelConfig model;
  model.architecture = file.text("model");
  model.hidden_size = integer_at_least(params, "hidden_size", 1);
  model.num_attention_heads = integer_at_least(params, "num_attention_heads", 1);
  model.num_key_value_heads = integer_at_least(params, "num_key_value_heads", 1);
  model.head_dim = integer_at_least(params, "head_dim", 1);
  model.intermediate_size = integer_at_least(params, "intermediate_size", 1);
  model.vocab_size = integer_at_least(params, "vocab_size", 1);
  model.num_hidden_layers = integer_at_least(params, "num_hidden_layers", 1);
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
  if (file.has("notes")) {
    for (std::size_t i = 0; i < file.array("notes").size(); ++i) {
      const Json& note = file.array("notes")[i];
      if (!note.is_string()) {
        throw DataError(file.where("notes") + "[" + std::to_string(i) + "] is no text");
      }
      workload.notes.push_back(note.get<std::string>());
    }
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
    workload.iterations.push_back(read_iteration(fields));
    for (const GemmEntry& gemm : workload.iterations.back().gemms) {
      workload.model.fp8 = workload.model.fp8 || gemm.fp8;
    }
    const std::size_t count = workload.iterations.size();
    if (count > 1 &&
        workload.iterations[count - 1].number <= workload.iterations[count - 2].number) {
      throw DataError(fields.where("iteration") + " is " +
                      std::to_string(workload.iterations.back().number) +
                      ", expected a larger number than that of the iteration before");
    }
  }
  if (workload.iterations.empty()) {
    throw DataError(file.where("iterations") + " is empty, expected at least one iteration");
  }
  return workload;
}

}  // namespace pw
