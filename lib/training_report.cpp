#include "pw/training_report.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "comma_list.h"
#include "io/files.h"
#include "io/json_file.h"
#include "kernel_reports.h"
#include "worst_cases.h"

namespace pw {
namespace {

constexpr std::size_t kWorstCases = 100;
constexpr char kTest[] = "test";
constexpr char kMetadata[] = "metadata.json";
constexpr char kLossCurve[] = "loss_curve.csv";

std::string upper_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string path_list(const std::vector<std::filesystem::path>& paths) {
  std::vector<std::string> names;
  for (const std::filesystem::path& path : paths) {
    names.push_back(path.string());
  }
  return comma_list(names);
}

// Rows per GPU, most first.
Json hardware_distribution(const Dataset& data) {
  std::vector<std::pair<std::string, std::int64_t>> counts;
  for (const std::string& name : data.hardware_names) {
    counts.emplace_back(name, 0);
  }
  for (const std::uint32_t gpu : data.hardware) {
    ++counts[gpu].second;
  }
  std::stable_sort(counts.begin(), counts.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  Json json = Json::object();
  for (const auto& [name, rows] : counts) {
    json[name] = rows;
  }
  return json;
}

// What a quantile model is, in the published words: "0.8" and "80th percentile".
void add_quantile(double quantile, Json& info) {
  const std::string percentile = std::to_string(std::lround(100 * quantile));
  info["loss_function"] = "Quantile Loss (q=" + python_repr(quantile) + ")";
  info["quantile"] = quantile;
  info["purpose"] = "Upper bound prediction (" + percentile + "th percentile)";
}

Json model_info(const TrainingRun& run) {
  const ModelRecord& record = run.record;
  const bool published = record.kind == ModelKind::efficiency;
  Json info = {{"model_type", upper_case(record.operator_name) +
                                  (published ? "_MLP" : "_LOG_RATIO_ENSEMBLE") +
                                  (record.output_quantile ? "_QUANTILE" : "")},
               {"operator_type", record.operator_name},
               {"features", record.features},
               {"target", published ? "overall_perf" : "ln(duration / bound)"},
               {"num_features", record.features.size()}};
  if (record.output_quantile) {
    add_quantile(*record.output_quantile, info);
  }
  info["model_parameters"] = {{"input_dim", record.features.size()},
                              {"hidden_dims", run.network.hidden_widths}};
  Json& parameters = info["model_parameters"];
  if (published) {
    parameters["dropout_rate"] = run.network.dropout;
  } else {
    parameters["members"] = run.network.members;
  }
  parameters["total_parameters"] = run.network.parameters;
  if (published) {
    info["batch_norm_position"] = "post_activation";
  }
  return info;
}

Json data_info(const TrainingRun& run, const Dataset& train, const Dataset* test,
               const ReportSources& sources) {
  Json info = {{"train_samples", train.rows()}};
  if (test != nullptr) {
    info["test_samples"] = test->rows();
  }
  info["train_path"] = path_list(sources.train);
  if (test != nullptr) {
    info["test_path"] = path_list(sources.test);
  }
  if (run.record.output_quantile) {
    info["validation"] = run.record.kind == ModelKind::efficiency
                             ? "No validation split - trained on full dataset"
                             : "Cross-validated, then trained on full dataset";
  }
  info["train_hardware_distribution"] = hardware_distribution(train);
  if (test != nullptr) {
    info["test_hardware_distribution"] = hardware_distribution(*test);
  }
  return info;
}

Json preprocessing(ModelKind kind) {
  if (kind == ModelKind::efficiency) {
    return {{"transformation", "log1p only (no standardization)"},
            {"note", "This model does not use StandardScaler"}};
  }
  return {{"transformation", "clipped to the range of the training rows, standardised"},
          {"note", "Both are part of the checkpoint"}};
}

Json published_metrics(const Metrics& metrics) {
  Json json = {{"mae", metrics.mae}, {"rmse", metrics.rmse}};
  json["r2"] = metrics.r2 ? Json(*metrics.r2) : Json();
  json["mean_relative_error"] = metrics.mean_relative_error;
  json["median_relative_error"] = metrics.median_relative_error;
  json["accuracy_10_percent"] = metrics.accuracy_10_percent;
  json["accuracy_20_percent"] = metrics.accuracy_20_percent;
  json["accuracy_50_percent"] = metrics.accuracy_50_percent;
  return json;
}

Json evaluation_results(const ModelRecord& record) {
  const std::string gpu_prefix = std::string(kTest) + ": ";
  Json results = {{"overall", Json::object()}, {"by_hardware", Json::object()}};
  for (const auto& [label, metrics] : record.metrics) {
    if (label == kTest) {
      results["overall"] = published_metrics(metrics);
    } else if (label.compare(0, gpu_prefix.size(), gpu_prefix) == 0) {
      Json gpu = {{"test_samples", metrics.rows}};
      gpu.update(published_metrics(metrics));
      results["by_hardware"][label.substr(gpu_prefix.size())] = std::move(gpu);
    }
  }
  return results;
}

// What stands at the end of a quantile model's file.
Json kernel_reports_info(const std::filesystem::path& folder, const KernelReportOptions& options) {
  const std::string threshold = python_repr(options.threshold);
  return {{"report_directory", folder.string()},
          {"description",
           "Kernel performance analysis reports identifying underperforming kernels (actual < "
           "predicted)"},
          {"threshold", options.threshold},
          {"topk_per_hardware", options.topk ? Json(*options.topk) : Json("all")},
          {"note", "Kernels with perf_diff < " + threshold + " are identified as underperforming"},
          {"files", "See kernel_reports/ directory for CSV files"}};
}

// The layout of the original's file, then the whole record.
Json metadata_json(const TrainingRun& run, const Dataset& train, const Dataset* test,
                   const ReportSources& sources) {
  const Json record = parse_json(record_json(run.record), "record");
  Json json = {{"timestamp", sources.timestamp},
               {"model_info", model_info(run)},
               {"data_info", data_info(run, train, test, sources)},
               {"feature_ranges", record.at("feature_ranges")},
               {"preprocessing", preprocessing(run.record.kind)}};
  if (test != nullptr) {
    json["evaluation_results"] = evaluation_results(run.record);
  }
  json["record"] = record;
  return json;
}

std::string loss_curve_csv(const std::vector<EpochReport>& curve) {
  std::string csv = "epoch,train_loss,validation_loss,learning_rate,seconds\n";
  for (const EpochReport& report : curve) {
    csv += std::to_string(report.epoch) + "," + python_repr(report.train_loss) + "," +
           (report.validation_loss ? python_repr(*report.validation_loss) : "") + "," +
           python_repr(report.learning_rate) + "," + python_repr(report.seconds) + "\n";
  }
  return csv;
}

std::string worst_cases(const TrainingRun& run, const Dataset& train, const Dataset* test,
                        const ReportSources& sources) {
  if (test == nullptr) {
    return worst_cases_csv(train, sources.train, run.validation_rows, run.validation_predictions,
                           kWorstCases);
  }
  std::vector<std::int64_t> rows(test->rows());
  std::iota(rows.begin(), rows.end(), 0);
  return worst_cases_csv(*test, sources.test, rows, run.test_predictions, kWorstCases);
}

}  // namespace

void write_training_report(const std::filesystem::path& folder, const TrainingRun& run,
                           const Dataset& train, const Dataset* test,
                           const ReportSources& sources) {
  write_file_atomic(folder / kMetadata, to_json_text(metadata_json(run, train, test, sources)));
  write_file_atomic(folder / kLossCurve, loss_curve_csv(run.curve));
  write_file_atomic(folder / "worst_cases_top100.csv", worst_cases(run, train, test, sources));
}

void write_quantile_report(const std::filesystem::path& folder, const TrainingRun& run,
                           const Dataset& train, const std::vector<float>& predicted,
                           const ReportSources& sources, const KernelReportOptions& options) {
  const std::filesystem::path kernels = folder / "kernel_reports";
  Json json = metadata_json(run, train, nullptr, sources);
  json["kernel_reports"] = kernel_reports_info(kernels, options);
  write_file_atomic(folder / kMetadata, to_json_text(json));
  write_file_atomic(folder / kLossCurve, loss_curve_csv(run.curve));
  write_kernel_reports(kernels, train, sources.train, predicted, options);
}

}  // namespace pw
