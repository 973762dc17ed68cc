#include "pw/engine_profile.h"

#include <algorithm>
#include <system_error>

#include "comma_list.h"
#include "io/json_file.h"
#include "pw/data_paths.h"
#include "pw/elementwise.h"

namespace pw {
namespace {

constexpr double kBf16Bytes = 2;
// Combining the parts of a split context moves next to nothing: the floor of a kernel.
constexpr double kMergeBytes = 0;

// Conversion of the logits to fp32, softmax or arg max over them: three passes of fp32.
constexpr double kLogitBytes = 12;

}  // namespace

const std::vector<std::string_view>& engine_operator_names() {
  static const std::vector<std::string_view> names = {
      "rope", "kv_store", "qk_norm", "kv_merge", "embedding", "logits", "host"};
  return names;
}

namespace {

// A key that this version of the program does not know may change what the file means.
void refuse_unknown_keys(const Json& object, const std::string& where) {
  static const std::set<std::string> known = {"version",
                                              "released",
                                              "host_us_per_iteration",
                                              "custom_all_reduce_max_bytes",
                                              "small_kernel_floor_us",
                                              "fused",
                                              "source"};
  for (const auto& [key, value] : object.items()) {
    if (known.count(key) != 0) continue;
    throw DataError(where + ": unknown key '" + key + "', expected some of " +
                    comma_list(std::vector<std::string>(known.begin(), known.end())));
  }
}

double not_negative(const JsonFields& fields, const char* key) {
  const double value = fields.number(key);
  if (value >= 0) return value;
  throw DataError(fields.where(key) + " is negative, expected at least 0");
}

void require_engine_operator(const std::string& name, const std::string& where) {
  const auto& known = engine_operator_names();
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  throw DataError(where + " names '" + name + "', expected some of " +
                  comma_list(std::vector<std::string>(known.begin(), known.end())));
}

EngineProfile read_version(const Json& json, const std::string& where) {
  if (!json.is_object()) throw DataError(where + " is no object");
  refuse_unknown_keys(json, where);
  const JsonFields fields(json, where);
  EngineProfile engine;
  engine.version = fields.text("version");
  engine.released = fields.text("released");
  engine.host_us_per_iteration = not_negative(fields, "host_us_per_iteration");
  engine.custom_all_reduce_max_bytes = integer_at_least(fields, "custom_all_reduce_max_bytes", 0);
  if (fields.has("small_kernel_floor_us")) {
    engine.small_kernel_floor_us = not_negative(fields, "small_kernel_floor_us");
  }
  if (fields.has("fused")) {
    for (const Json& name : fields.array("fused")) {
      if (!name.is_string()) throw DataError(fields.where("fused") + " holds what is no text");
      require_engine_operator(name.get<std::string>(), fields.where("fused"));
      engine.left_out.insert(name.get<std::string>());
    }
  }
  engine.source = fields.text("source");
  return engine;
}

// All versions, the oldest first.
std::vector<EngineProfile> read_versions(const std::filesystem::path& path) {
  const Json json = read_json(path);
  const JsonFields file(json, path.string());
  const std::string name = file.text("engine");
  const Json& list = file.array("versions");
  std::vector<EngineProfile> versions;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string where = file.where("versions") + "[" + std::to_string(i) + "]";
    versions.push_back(read_version(list[i], where));
    versions.back().name = name;
    if (i > 0 && versions[i].released < versions[i - 1].released) {
      throw DataError(where + ".released is " + versions[i].released +
                      ", before that of the version " +
                      "in front of it: the newest must be the last");
    }
  }
  if (versions.empty()) {
    throw DataError(file.where("versions") + " is empty, expected at least one version");
  }
  return versions;
}

}  // namespace

EngineProfile read_engine_profile(const std::filesystem::path& folder, const std::string& engine) {
  const std::size_t at = engine.find('@');
  const std::string name = engine.substr(0, at);
  const std::filesystem::path path = folder / (name + ".json");
  std::error_code error;
  if (name.empty() || !std::filesystem::is_regular_file(path, error)) {
    std::vector<std::string> known;
    for (const std::filesystem::path& file : json_files(folder)) known.push_back(file.stem());
    throw UsageError("no engine '" + name + "' in " + folder.string() + ", expected one of " +
                     comma_list(known));
  }
  const std::vector<EngineProfile> versions = read_versions(path);
  if (at == std::string::npos) return versions.back();
  const std::string version = engine.substr(at + 1);
  std::vector<std::string> known;
  for (const EngineProfile& each : versions) {
    if (each.version == version) return each;
    known.push_back(each.version);
  }
  throw UsageError("no version '" + version + "' of " + name + " in " + path.string() +
                   ", expected one of " + comma_list(known));
}

std::vector<EngineOperator> engine_operators(const ModelConfig& model, const Step& step,
                                             const HardwareSpec& hardware,
                                             const EngineProfile& engine) {
  const auto tokens = static_cast<double>(num_tokens(step.batch));
  const auto requests = static_cast<double>(step.batch.requests());
  const double floor_us = engine.small_kernel_floor_us;
  std::vector<EngineOperator> operators;
  const auto add = [&](std::string_view name, double us, std::int64_t count) {
    if (us > 0 && engine.left_out.count(std::string(name)) == 0) {
      operators.push_back({name, us, count});
    }
  };
  for (auto op_place = step.attention.begin(); op_place != step.attention.end(); ++op_place) {
    const Op& op = *op_place;
    const auto& a = std::get<AttentionConfig>(op.problem);
    // Two calls of one name, prompts beside decodes, are in the same layers.
    const bool first_of_layers =
        std::none_of(step.attention.begin(), op_place,
                     [&](const Op& earlier) { return earlier.name == op.name; });
    if (first_of_layers) {
      const auto head_dim = static_cast<double>(a.head_dim);
      const double heads = static_cast<double>(a.query_heads + a.kv_heads);
      const double rows = tokens * heads * head_dim;  // elements of queries and keys
      if (model.positions == Positions::rotary) {
        add("rope",
            elementwise_us(2 * kBf16Bytes * rows * model.rotary_fraction, hardware, floor_us),
            op.calls);
      }
      const double kv = 2 * tokens * static_cast<double>(a.kv_heads) * head_dim;
      add("kv_store", elementwise_us(2 * kBf16Bytes * kv, hardware, floor_us), op.calls);
      if (model.layers.front().attention.qk_norm) {
        add("qk_norm", 2 * elementwise_us(kBf16Bytes * rows, hardware, floor_us), op.calls);
      }
    }
    if (a.layout == KvLayout::paged) {
      add("kv_merge", elementwise_us(kMergeBytes, hardware, floor_us), op.calls);
    }
  }
  const auto hidden = static_cast<double>(model.hidden_size);
  add("embedding", elementwise_us(2 * kBf16Bytes * tokens * hidden, hardware, floor_us), 1);
  const auto vocabulary = static_cast<double>(model.vocab_size);
  add("logits", elementwise_us(kLogitBytes * requests * vocabulary, hardware, floor_us), 1);
  add("host", engine.host_us_per_iteration, 1);
  return operators;
}

}  // namespace pw
