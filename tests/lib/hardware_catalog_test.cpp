#include "pw/hardware_catalog.h"

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/json_file.h"
#include "pw/data_paths.h"
#include "support/error_of.h"
#include "support/reference.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

using testing::HasSubstr;

const HardwareCatalog& shipped() {
  static const HardwareCatalog catalog =
      HardwareCatalog::read(find_data_folder("hardware", std::nullopt));
  return catalog;
}

// An invented GPU with nothing but the required keys.
Json minimal() {
  return parse_json(R"({"numSms": 10, "smFreq": 1000.5, "tcBf16": 512, "xuFp32": 16, "FmaFp32": 64,
                        "memBandwidth": 300, "l2CacheBandwidth": 900,
                        "sharedMemoryBandwidth": 128})",
                    "minimal");
}

Json with(const std::string& key, const Json& value) {
  Json json = minimal();
  json[key] = value;
  return json;
}

HardwareSpec read(const Json& json) {
  const TemporaryFolder folder;
  return read_hardware(folder.file("Demo 1.json", json.dump()));
}

std::string error_for(const Json& json) {
  return error_of([&] { read(json); });
}

TEST(ReadHardware, NeedsOnlyTheRequiredKeys) {
  const HardwareSpec spec = read(minimal());
  EXPECT_EQ(spec.stem, "Demo 1");
  EXPECT_EQ(spec.name, "Demo 1");
  EXPECT_EQ(spec.architecture, Architecture::ampere);
  EXPECT_EQ(spec.gemm_rules, GemmRules::sm80);
  EXPECT_EQ(spec.num_sms, 10);
  EXPECT_EQ(spec.sm_freq_mhz, 1000.5);
  EXPECT_EQ(spec.tensor_bf16_ops_per_cycle_sm, 512);
  EXPECT_EQ(spec.tensor_fp8_ops_per_cycle_sm, 0);
  EXPECT_EQ(spec.xu_ops_per_cycle_sm, 16);
  EXPECT_EQ(spec.fma_ops_per_cycle_sm, 64);
  EXPECT_EQ(spec.memory_bandwidth, 300);
  EXPECT_EQ(spec.l2_bandwidth, 900);
  EXPECT_EQ(spec.shared_bytes_per_cycle_sm, 128);
  EXPECT_EQ(spec.shared_memory_kib, 0);
  EXPECT_FALSE(spec.sustained_tensor_fraction || spec.sustained_dram_fraction);
  EXPECT_FALSE(spec.interconnect || spec.interconnect_gb_per_s);
}

TEST(ReadHardware, EveryRequiredKeyIsRequired) {
  const Json required = minimal();
  for (const auto& [key, value] : required.items()) {
    Json json = required;
    json.erase(key);
    EXPECT_THAT(error_for(json), HasSubstr("Demo 1.json: " + key + " is missing"));
    EXPECT_THAT(error_for(with(key, 0)), HasSubstr("Demo 1.json: " + key + " is 0"));
    EXPECT_THAT(error_for(with(key, -1.0)), HasSubstr("Demo 1.json: " + key + " is -1"));
    EXPECT_THAT(error_for(with(key, "9")), HasSubstr("Demo 1.json: " + key));
    EXPECT_THAT(error_for(with(key, nullptr)), HasSubstr("Demo 1.json: " + key));
  }
}

TEST(ReadHardware, ReadsTheOptionalKeys) {
  Json json = minimal();
  json["name"] = "ACME Demo";
  json["architecture"] = "blackwell";
  json["gemmRules"] = "sm90";
  json["tcFp8"] = 1024;
  json["sharedMemorySize"] = 100;
  json["l2CacheSize"] = 6144;
  json["totalGlobalMem"] = 8000000000;
  json["sustainedTensorFraction"] = 0.75;
  json["sustainedDramFraction"] = 1;
  json["interconnect"] = "pcie";
  json["interconnectBandwidth"] = 32;
  const HardwareSpec spec = read(json);
  EXPECT_EQ(spec.name, "ACME Demo");
  EXPECT_EQ(spec.architecture, Architecture::blackwell);
  EXPECT_EQ(spec.gemm_rules, GemmRules::sm90);
  EXPECT_EQ(spec.tensor_fp8_ops_per_cycle_sm, 1024);
  EXPECT_EQ(spec.shared_memory_kib, 100);
  EXPECT_EQ(spec.l2_cache_kib, 6144);
  EXPECT_EQ(spec.global_memory_bytes, 8000000000);
  EXPECT_EQ(spec.sustained_tensor_fraction, 0.75);
  EXPECT_EQ(spec.sustained_dram_fraction, 1);
  EXPECT_EQ(spec.interconnect, Interconnect::pcie);
  EXPECT_EQ(spec.interconnect_gb_per_s, 32);
}

TEST(ReadHardware, RefusesImpossibleValues) {
  const struct {
    const char* key;
    Json value;
    const char* message;
  } cases[] = {
      {"numSms", 10.5, "numSms is 10.5"},
      {"tcFp8", 0, "tcFp8 is 0.0, expected more than 0"},
      {"sharedMemorySize", -1, "sharedMemorySize is -1.0"},
      {"l1CacheSize", 0, "l1CacheSize is 0.0"},
      {"registerFileSize", "256", "registerFileSize is \"256\""},
      {"totalGlobalMem", 0, "totalGlobalMem is 0"},
      {"computeMinor", -1, "computeMinor is -1"},
      {"sustainedTensorFraction", 1.01, "sustainedTensorFraction is 1.01, expected a fraction"},
      {"sustainedDramFraction", 0, "sustainedDramFraction is 0.0"},
      {"architecture", "turing",
       "architecture is 'turing', expected one of ampere, ada, hopper, blackwell"},
      {"gemmRules", "sm100", "gemmRules is 'sm100', expected one of sm80, sm90"},
      {"interconnect", "pcie", "interconnectBandwidth belong together"},
      {"interconnectBandwidth", 32, "interconnectBandwidth belong together"},
      {"aliases", "Demo", "aliases is \"Demo\""},
      {"aliases", Json::array({"Demo", 7}), "aliases holds 7"},
      {"smfreq", 1000, "unknown key 'smfreq'; known keys are name, architecture"},
      {"computeMajor", 9, "architecture is absent, which means ampere"},
  };
  for (const auto& item : cases) {
    const std::string error = error_for(with(item.key, item.value));
    EXPECT_THAT(error, HasSubstr("Demo 1.json: "));
    EXPECT_THAT(error, HasSubstr(item.message));
  }
  EXPECT_THAT(error_for(Json::array()), HasSubstr("expected an object"));
}

TEST(ReadHardware, NotesAreTexts) {
  EXPECT_EQ(read(with("notes", Json::array({"from a data sheet"}))).num_sms, 10);
  EXPECT_THAT(error_for(with("notes", Json::array({1}))),
              HasSubstr("notes holds 1, expected texts"));
  EXPECT_THAT(error_for(with("notes", "a text")), HasSubstr("notes"));
}

TEST(ReadHardware, AnAmpereCapabilityNeedsNoArchitecture) {
  Json json = with("computeMajor", 8);
  json["computeMinor"] = 6;
  EXPECT_EQ(read(json).architecture, Architecture::ampere);
  json["computeMinor"] = 9;
  EXPECT_THAT(error_for(json), HasSubstr("give the architecture"));
}

TEST(ShippedHardware, IsCompleteAndConsistent) {
  EXPECT_EQ(shipped().all().size(), 13);
  for (const HardwareSpec& spec : shipped().all()) {
    EXPECT_NO_THROW(check(spec)) << spec.stem;
    EXPECT_GT(spec.shared_memory_kib, 0) << spec.stem;
    EXPECT_GT(spec.l2_cache_kib, 0) << spec.stem;
    EXPECT_GT(spec.global_memory_bytes, 0) << spec.stem;
    EXPECT_TRUE(spec.interconnect) << spec.stem;
    EXPECT_FALSE(sustained_fractions(spec).is_default) << spec.stem;
  }
}

// Dense bf16 rates in TFLOPS as NVIDIA's data sheets print them.
TEST(ShippedHardware, AgreesWithDataSheets) {
  const struct {
    const char* stem;
    double tflops;
  } cases[] = {
      {"A100", 312},
      {"A40", 149.7},
      {"RTX A6000", 154.8},
      {"L20", 119.5},
      {"L40", 181.05},
      {"L40S", 362.05},
      {"RTX 6000 Ada", 364.25},
      {"H100", 989.4},
      {"H800", 989.4},
      {"H200", 989.4},
      {"H20", 148},
      {"B200", 2250},
  };
  for (const auto& item : cases) {
    const HardwareSpec& spec = shipped().get(item.stem);
    const double tflops = spec.tensor_bf16_ops_per_cycle_sm * static_cast<double>(spec.num_sms) *
                          spec.sm_freq_mhz / 1e6;
    EXPECT_NEAR(tflops / item.tflops, 1, 0.02) << item.stem;
  }
}

TEST(ShippedHardware, OnlyHopperAndB200UsePersistentGemms) {
  for (const HardwareSpec& spec : shipped().all()) {
    const bool persistent = spec.architecture == Architecture::hopper || spec.stem == "B200";
    EXPECT_EQ(spec.gemm_rules == GemmRules::sm90, persistent) << spec.stem;
  }
}

// Columns hardware, M, N, K, copies, eta, beta: the sustained rates that the recipe was made with.
// Of the GPUs whose rates are measured; those of the others come from MoE rows.
TEST(ShippedHardware, MeasuredSustainedRatesAreTheRecipes) {
  PW_REFERENCE_OR_SKIP(reference);
  const std::set<std::string> tensor_from_moe = {"H800", "L20", "L40", "RTX 6000 Ada", "RTX A6000"};
  const std::set<std::string> dram_from_moe = {"H20", "H800", "RTX A6000"};
  std::ifstream file(reference / "golden" / "recipe_gemm.csv");
  std::string line;
  std::getline(file, line);
  int rows = 0;
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    std::string cell[7];
    for (std::string& each : cell) std::getline(cells, each, ',');
    const HardwareSpec& spec = shipped().get(cell[0]);
    if (tensor_from_moe.count(spec.stem) == 0) {
      EXPECT_DOUBLE_EQ(spec.sustained_tensor_fraction.value(), std::stod(cell[5])) << cell[0];
      ++rows;
    }
    if (dram_from_moe.count(spec.stem) == 0) {
      EXPECT_DOUBLE_EQ(spec.sustained_dram_fraction.value(), std::stod(cell[6])) << cell[0];
      ++rows;
    }
  }
  EXPECT_GT(rows, 0);
}

TEST(HardwareCatalog, FindsWholeNamesOnly) {
  const struct {
    const char* name;
    const char* stem;
  } cases[] = {
      {"NVIDIA L40", "L40"},
      {"nvidia l40", "L40"},
      {" NVIDIA  L40 ", "L40"},
      {"L40", "L40"},
      {"NVIDIA L40S", "L40S"},
      {"NVIDIA H100 80GB HBM3", "H100"},
      {"NVIDIA H800", "H800"},
      {"RTX_PRO_6000_S", "RTX PRO 6000 S"},
      {"NVIDIA RTX 6000 Ada Generation", "RTX 6000 Ada"},
      {"NVIDIA A100-SXM4-80GB", "A100"},
      {"NVIDIA A100-SXM4-40GB", "(none)"},
      {"NVIDIA L4", "(none)"},
      {"H1", "(none)"},
      {"RTX 6000", "(none)"},
      {"AcmeGPU X1", "(none)"},
      {"", "(none)"},
  };
  for (const auto& item : cases) {
    const HardwareSpec* spec = shipped().find(item.name);
    EXPECT_EQ(spec == nullptr ? "(none)" : spec->stem, item.stem) << item.name;
  }
}

TEST(HardwareCatalog, AnUnknownGpuIsToldTheKnownOnes) {
  const std::string error = error_of([] { shipped().get("AcmeGPU X1"); });
  EXPECT_THAT(error, HasSubstr("unknown GPU 'AcmeGPU X1'"));
  EXPECT_THAT(error, HasSubstr("A100, A40, B200, H100, H20, H200, H800, L20, L40, L40S, "
                               "RTX 6000 Ada, RTX A6000, RTX PRO 6000 S"));
}

TEST(HardwareCatalog, OneNameBelongsToOneGpu) {
  const TemporaryFolder folder;
  folder.file("A.json", with("name", "ACME One").dump());
  Json second = with("name", "ACME Two");
  second["aliases"] = {"ACME 2", "acme two"};
  folder.file("B.json", second.dump());
  const HardwareCatalog catalog = HardwareCatalog::read(folder.path());
  EXPECT_EQ(catalog.get("acme_2").stem, "B");
  EXPECT_EQ(catalog.get("A").name, "ACME One");

  second["aliases"] = {"acme  ONE"};
  folder.file("B.json", second.dump());
  EXPECT_THAT(error_of([&] { HardwareCatalog::read(folder.path()); }),
              HasSubstr("B.json: the name 'acme  ONE' already belongs to A.json"));
}

TEST(HardwareCatalog, ABadFileIsNamed) {
  const TemporaryFolder folder;
  folder.file("Good.json", minimal().dump());
  folder.file("Bad.json", "{\"numSms\": ");
  EXPECT_THAT(error_of([&] { HardwareCatalog::read(folder.path()); }), HasSubstr("Bad.json:1: "));
}

}  // namespace
}  // namespace pw
