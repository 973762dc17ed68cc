#include "sweep_record.h"

#include "io/sha256.h"

namespace pw {
namespace {

constexpr int kFormatVersion = 1;

// All that shards of one sweep have in common.
Json sweep_json(const SweepRecord& record) {
  Json inputs = Json::object();
  for (const auto& [name, value] : record.inputs) inputs[name] = value;
  return {{"format", std::string(to_string(record.format))},
          {"grid", grid_json(record.grid)},
          {"inputs", inputs}};
}

// The first name under which two objects differ; empty for none.
std::string first_difference(const Json& a, const Json& b) {
  for (const auto& [name, value] : a.items()) {
    const auto other = b.find(name);
    if (other == b.end() || *other != value) return name;
  }
  for (const auto& [name, value] : b.items()) {
    if (!a.contains(name)) return name;
  }
  return {};
}

}  // namespace

std::filesystem::path record_path(const std::filesystem::path& output) {
  return output.string() + ".sweep.json";
}

std::string record_json(const SweepRecord& record) {
  const Json sweep = sweep_json(record);
  const SweepRows rows = record.rows();
  const Json json{{"format_version", kFormatVersion},
                  {"fingerprint", sha256_hex(sweep.dump())},
                  {"shard", record.shard},
                  {"shards", record.shards},
                  {"first_row", rows.begin},
                  {"rows", rows.count()},
                  {"sweep", sweep}};
  return to_json_text(json) + "\n";
}

SweepRecord read_record(const std::filesystem::path& output) {
  const std::filesystem::path path = record_path(output);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    throw DataError(output.string() + " has no " + path.filename().string() +
                    " beside it, which tells which sweep it belongs to: keep the two together");
  }
  const Json json = read_json(path);
  const JsonFields fields(json, path.string());
  if (fields.integer("format_version") != kFormatVersion) {
    throw DataError(fields.where("format_version") + " is " +
                    std::to_string(fields.integer("format_version")) + ", expected " +
                    std::to_string(kFormatVersion));
  }
  const JsonFields sweep(fields.object("sweep"), path.string() + ": sweep");
  SweepRecord record;
  record.format = parse_sweep_format(sweep.text("format"));
  record.grid = read_grid(JsonFields(sweep.object("grid"), path.string() + ": sweep.grid"));
  const Json& inputs = sweep.object("inputs");
  const JsonFields input_fields(inputs, path.string() + ": sweep.inputs");
  for (const auto& [name, value] : inputs.items()) {
    record.inputs.emplace_back(name, input_fields.text(name));
  }
  record.shards = static_cast<std::size_t>(integer_at_least(fields, "shards", 1));
  record.shard = static_cast<std::size_t>(integer_at_least(fields, "shard", 1));
  if (record.shard > record.shards) {
    throw DataError(fields.where("shard") + " is " + std::to_string(record.shard) +
                    ", expected at most " + std::to_string(record.shards));
  }
  if (sha256_hex(sweep_json(record).dump()) != fields.text("fingerprint")) {
    throw DataError(path.string() + ": fingerprint does not fit the sweep: the file was changed");
  }
  return record;
}

std::string difference(const SweepRecord& a, const SweepRecord& b) {
  if (a.format != b.format) return "format";
  const Json one = sweep_json(a), other = sweep_json(b);
  const std::string axis = first_difference(one.at("grid"), other.at("grid"));
  return axis.empty() ? first_difference(one.at("inputs"), other.at("inputs")) : axis;
}

}  // namespace pw
