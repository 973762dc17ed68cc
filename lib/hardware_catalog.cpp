#include "pw/hardware_catalog.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>

#include "choice.h"
#include "comma_list.h"
#include "io/json_file.h"
#include "pw/data_paths.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

// The keys of the published files, then ours. computeMajor, computeMinor, registerFileSize,
// l1CacheSize and notes describe the GPU for people: they are checked, and no formula reads them.
constexpr std::string_view kKnownKeys[] = {
    "name",
    "architecture",
    "computeMajor",
    "computeMinor",
    "numSms",
    "smFreq",
    "memBandwidth",
    "l2CacheBandwidth",
    "sharedMemoryBandwidth",
    "tcBf16",
    "tcFp8",
    "tcFp4",
    "xuFp32",
    "FmaFp32",
    "sharedMemorySize",
    "registerFileSize",
    "l1CacheSize",
    "l2CacheSize",
    "totalGlobalMem",
    "aliases",
    "gemmRules",
    "sustainedTensorFraction",
    "sustainedDramFraction",
    "interconnect",
    "interconnectBandwidth",
    "notes",
};

double positive(const JsonFields& fields, std::string_view key) {
  const double value = fields.number(key);
  if (value > 0) return value;
  throw DataError(fields.where(key) + " is " + python_repr(value) + ", expected more than 0");
}

// 0 stands for a key that is not given.
double positive_or_absent(const JsonFields& fields, std::string_view key) {
  return fields.has(key) ? positive(fields, key) : 0;
}

std::optional<double> optional_positive(const JsonFields& fields, std::string_view key) {
  if (!fields.has(key)) return std::nullopt;
  return positive(fields, key);
}

std::optional<double> optional_fraction(const JsonFields& fields, std::string_view key) {
  const auto value = optional_positive(fields, key);
  if (value && *value > 1) {
    throw DataError(fields.where(key) + " is " + python_repr(*value) +
                    ", expected a fraction of the nominal rate, at most 1");
  }
  return value;
}

void refuse_unknown_keys(const Json& object, const fs::path& path) {
  for (const auto& [key, value] : object.items()) {
    if (std::find(std::begin(kKnownKeys), std::end(kKnownKeys), key) != std::end(kKnownKeys))
      continue;
    throw DataError(path.string() + ": unknown key '" + key + "'; known keys are " +
                    comma_list(kKnownKeys));
  }
}

Architecture read_architecture(const JsonFields& fields) {
  if (fields.has("architecture")) {
    return choice(fields, "architecture",
                  std::array{Architecture::ampere, Architecture::ada, Architecture::hopper,
                             Architecture::blackwell});
  }
  // Absent means ampere in the published format; a compute capability must not say otherwise.
  const bool capability_is_ampere =
      !fields.has("computeMajor") ||
      (fields.integer("computeMajor") == 8 &&
       (!fields.has("computeMinor") || fields.integer("computeMinor") < 9));
  if (capability_is_ampere) return Architecture::ampere;
  throw DataError(fields.where("architecture") +
                  " is absent, which means ampere, but the compute capability is not 8.0 to 8.8: "
                  "give the architecture");
}

void read_rates(const JsonFields& fields, HardwareSpec& spec) {
  spec.num_sms = integer_at_least(fields, "numSms", 1);
  spec.sm_freq_mhz = positive(fields, "smFreq");
  spec.tensor_bf16_ops_per_cycle_sm = positive(fields, "tcBf16");
  spec.tensor_fp8_ops_per_cycle_sm = positive_or_absent(fields, "tcFp8");
  spec.tensor_fp4_ops_per_cycle_sm = positive_or_absent(fields, "tcFp4");
  spec.xu_ops_per_cycle_sm = positive(fields, "xuFp32");
  spec.fma_ops_per_cycle_sm = positive(fields, "FmaFp32");
  spec.memory_bandwidth = positive(fields, "memBandwidth");
  spec.l2_bandwidth = positive(fields, "l2CacheBandwidth");
  spec.shared_bytes_per_cycle_sm = positive(fields, "sharedMemoryBandwidth");
  spec.sustained_tensor_fraction = optional_fraction(fields, "sustainedTensorFraction");
  spec.sustained_dram_fraction = optional_fraction(fields, "sustainedDramFraction");
}

void read_sizes(const JsonFields& fields, HardwareSpec& spec) {
  spec.shared_memory_kib = positive_or_absent(fields, "sharedMemorySize");
  spec.l2_cache_kib = positive_or_absent(fields, "l2CacheSize");
  if (fields.has("totalGlobalMem")) {
    spec.global_memory_bytes = integer_at_least(fields, "totalGlobalMem", 1);
  }
  positive_or_absent(fields, "registerFileSize");
  positive_or_absent(fields, "l1CacheSize");
  for (const std::string_view key : {"computeMajor", "computeMinor"}) {
    if (fields.has(key)) integer_at_least(fields, key, 0);
  }
}

void read_interconnect(const JsonFields& fields, HardwareSpec& spec) {
  if (fields.has("interconnect") != fields.has("interconnectBandwidth")) {
    throw DataError(fields.where("interconnect") +
                    " and interconnectBandwidth belong together: give both or neither");
  }
  if (!fields.has("interconnect")) return;
  spec.interconnect =
      choice(fields, "interconnect", std::array{Interconnect::nvlink, Interconnect::pcie});
  spec.interconnect_gb_per_s = positive(fields, "interconnectBandwidth");
}

std::vector<std::string> read_aliases(const JsonFields& fields) {
  std::vector<std::string> aliases;
  if (!fields.has("aliases")) return aliases;
  for (const Json& alias : fields.array("aliases")) {
    if (!alias.is_string() || alias.get_ref<const std::string&>().empty()) {
      throw DataError(fields.where("aliases") + " holds " + alias.dump() +
                      ", expected non-empty names");
    }
    aliases.push_back(alias.get<std::string>());
  }
  return aliases;
}

// For people, like the sizes above: where the numbers come from.
void check_notes(const JsonFields& fields) {
  if (!fields.has("notes")) return;
  for (const Json& note : fields.array("notes")) {
    if (!note.is_string()) {
      throw DataError(fields.where("notes") + " holds " + note.dump() + ", expected texts");
    }
  }
}

struct HardwareFile {
  HardwareSpec spec;
  std::vector<std::string> aliases;
};

HardwareFile read_hardware_file(const fs::path& path) {
  const Json json = read_json(path);
  const JsonFields fields(json, path.string());
  refuse_unknown_keys(json, path);
  HardwareFile file;
  HardwareSpec& spec = file.spec;
  spec.stem = path.stem().string();
  spec.name = fields.has("name") ? fields.text("name") : spec.stem;
  spec.architecture = read_architecture(fields);
  spec.gemm_rules = fields.has("gemmRules")
                        ? choice(fields, "gemmRules", std::array{GemmRules::sm80, GemmRules::sm90})
                    : spec.architecture == Architecture::hopper ? GemmRules::sm90
                                                                : GemmRules::sm80;
  read_rates(fields, spec);
  read_sizes(fields, spec);
  read_interconnect(fields, spec);
  check_notes(fields);
  file.aliases = read_aliases(fields);
  return file;
}

// Lower case, `_` as a space, spaces collapsed and trimmed.
std::string normalised(std::string_view name) {
  std::string result;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (c != '_' && std::isspace(byte) == 0) {
      result += static_cast<char>(std::tolower(byte));
    } else if (!result.empty() && result.back() != ' ') {
      result += ' ';
    }
  }
  if (!result.empty() && result.back() == ' ') result.pop_back();
  return result;
}

}  // namespace

HardwareSpec read_hardware(const fs::path& path) { return read_hardware_file(path).spec; }

HardwareCatalog HardwareCatalog::read(const fs::path& folder) {
  HardwareCatalog catalog;
  catalog.folder_ = folder;
  for (const fs::path& path : json_files(folder)) {
    HardwareFile file = read_hardware_file(path);
    const std::size_t index = catalog.all_.size();
    file.aliases.insert(file.aliases.end(), {file.spec.stem, file.spec.name});
    catalog.all_.push_back(std::move(file.spec));
    for (const std::string& name : file.aliases) {
      const HardwareSpec* owner = catalog.find(name);
      if (owner == nullptr) {
        catalog.names_.emplace_back(normalised(name), index);
      } else if (owner != &catalog.all_[index]) {
        throw DataError(path.string() + ": the name '" + name + "' already belongs to " +
                        owner->stem + ".json: one name, one GPU");
      }
    }
  }
  return catalog;
}

const HardwareSpec* HardwareCatalog::find(std::string_view name) const {
  const std::string wanted = normalised(name);
  for (const auto& [known, index] : names_) {
    if (known == wanted) return &all_[index];
  }
  return nullptr;
}

const HardwareSpec& HardwareCatalog::get(std::string_view name) const {
  if (const HardwareSpec* spec = find(name)) return *spec;
  std::vector<std::string_view> known;
  for (const HardwareSpec& spec : all_) known.push_back(spec.stem);
  throw DataError("unknown GPU '" + std::string(name) + "'; the folder " + folder_.string() +
                  " knows " + comma_list(known));
}

}  // namespace pw
