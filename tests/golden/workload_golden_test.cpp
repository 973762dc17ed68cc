#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "io/files.h"
#include "pw/data_paths.h"
#include "pw/workload.h"
#include "support/reference.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

// "Qwen3-32B_arxiv_16_fa2_tp2_pp1" in its parts.
struct PublishedName {
  std::string config;
  std::string trace;
  AttentionKernel prefill;
};
PublishedName parse(const std::string& stem) {
  const std::size_t config_end = stem.find('_');
  const std::size_t kernel = stem.rfind("_fa");
  return {stem.substr(0, config_end), stem.substr(config_end + 1, kernel - config_end - 1),
          stem[kernel + 3] == '3' ? AttentionKernel::fa3 : AttentionKernel::fa2};
}

// Prompts and output length as the file has them: three traces are not published.
Trace trace_of(const Workload& workload, const std::string& stem) {
  Trace trace{stem, {}, {}};
  const auto output_tokens = static_cast<std::int64_t>(workload.steps.size());
  for (const std::int64_t prompt : workload.steps.front().batch.q_lengths) {
    trace.requests.push_back({prompt, output_tokens});
  }
  return trace;
}

// Four files were made with the layer norms of a layer counted twice.
bool counts_norms_twice(const PublishedName& name) {
  return name.config == "Qwen3-32B" && (name.trace == "arxiv_16" || name.trace == "splitwise_64");
}

std::vector<fs::path> published_files(const fs::path& folder) {
  std::vector<fs::path> files = json_files(folder);
  EXPECT_EQ(files.size(), 25u);
  return files;
}

TEST(WorkloadGolden, ReproducesEveryPublishedFile) {
  PW_REFERENCE_OR_SKIP(reference);
  const fs::path configs = find_data_folder("config", std::nullopt);
  std::map<std::string, int> equal;  // how the file was made -> files that are equal
  for (const fs::path& path : published_files(reference / "workload")) {
    const std::string stem = path.stem().string();
    SCOPED_TRACE(stem);
    const PublishedName name = parse(stem);
    const Workload published = read_workload(path);
    WorkloadOptions options;
    options.published_rules = true;
    options.tp_size = published.tp_size;
    options.pp_size = published.pp_size;
    options.prefill_kernel = name.prefill;
    options.rmsnorm_per_layer = counts_norms_twice(name) ? 4 : 2;
    const fs::path csv = path.parent_path() / (name.trace + ".csv");
    const bool has_trace = fs::exists(csv);
    const Trace trace = has_trace ? read_trace(csv) : trace_of(published, name.trace);
    const ModelConfig model = read_model_config(find_model_config(name.config, configs));

    const bool same = workload_json(generate_workload(model, trace, options), true) ==
                      read_file(path);  // megabytes: no diff in the output
    EXPECT_TRUE(same);
    EXPECT_EQ(workload_file_name(model, trace, options), path.filename().string());
    equal[!has_trace ? "no trace" : counts_norms_twice(name) ? "norms twice" : "plain"] += same;
  }
  EXPECT_EQ(equal,
            (std::map<std::string, int>{{"no trace", 3}, {"norms twice", 4}, {"plain", 18}}));
}

TEST(WorkloadGolden, ReadsAndRewritesEveryPublishedFile) {
  PW_REFERENCE_OR_SKIP(reference);
  for (const fs::path& path : published_files(reference / "workload")) {
    EXPECT_TRUE(workload_json(read_workload(path), true) == read_file(path)) << path;
  }
}

}  // namespace
}  // namespace pw
