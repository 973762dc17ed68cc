#include "pw/engine_profile.h"

#include "comma_list.h"
#include "io/json_file.h"
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

EngineProfile read_engine_profile(const std::filesystem::path& path, const std::string& name) {
  const Json json = read_json(path);
  const JsonFields engines(json, path.string());
  if (!engines.has(name)) {
    std::vector<std::string> known;
    for (const auto& [engine, profile] : json.items()) {
      known.push_back(engine);
    }
    throw UsageError("no engine '" + name + "' in " + path.string() + ", expected one of " +
                     comma_list(known));
  }
  const JsonFields fields(engines.object(name), path.string() + ": " + name);
  EngineProfile engine;
  engine.name = name;
  engine.host_us_per_iteration = fields.number("host_us_per_iteration");
  engine.custom_all_reduce_max_bytes = integer_at_least(fields, "custom_all_reduce_max_bytes", 0);
  engine.source = fields.text("source");
  if (engine.host_us_per_iteration < 0) {
    throw DataError(fields.where("host_us_per_iteration") + " is negative, expected at least 0");
  }
  return engine;
}

std::vector<EngineOperator> engine_operators(const ModelConfig& model, const Step& step,
                                             const HardwareSpec& hardware,
                                             const EngineProfile& engine) {
  const auto tokens = static_cast<double>(num_tokens(step.batch));
  const auto requests = static_cast<double>(step.batch.requests());
  std::vector<EngineOperator> operators;
  const auto add = [&](std::string_view name, double us, std::int64_t count) {
    if (us > 0 && engine.left_out.count(std::string(name)) == 0) {
      operators.push_back({name, us, count});
    }
  };
  const std::string* layers_done = nullptr;  // two calls of one name are in the same layers
  for (const Op& op : step.attention) {
    const auto& a = std::get<AttentionConfig>(op.problem);
    if (layers_done == nullptr || *layers_done != op.name) {
      const auto head_dim = static_cast<double>(a.head_dim);
      const double heads = static_cast<double>(a.query_heads + a.kv_heads);
      const double rows = tokens * heads * head_dim;  // elements of queries and keys
      add("rope", elementwise_us(2 * kBf16Bytes * rows, hardware), op.calls);
      const double kv = 2 * tokens * static_cast<double>(a.kv_heads) * head_dim;
      add("kv_store", elementwise_us(2 * kBf16Bytes * kv, hardware), op.calls);
      if (has_qk_norm(model.architecture)) {
        add("qk_norm", 2 * elementwise_us(kBf16Bytes * rows, hardware), op.calls);
      }
      layers_done = &op.name;
    }
    if (a.layout == KvLayout::paged) {
      add("kv_merge", elementwise_us(kMergeBytes, hardware), op.calls);
    }
  }
  const auto hidden = static_cast<double>(model.hidden_size);
  add("embedding", elementwise_us(2 * kBf16Bytes * tokens * hidden, hardware), 1);
  const auto vocabulary = static_cast<double>(model.vocab_size);
  add("logits", elementwise_us(kLogitBytes * requests * vocabulary, hardware), 1);
  add("host", engine.host_us_per_iteration, 1);
  return operators;
}

}  // namespace pw
