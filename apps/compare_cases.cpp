#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>

#include "app.h"
#include "comma_list.h"
#include "compare.h"
#include "compare_methods.h"
#include "io/files.h"
#include "io/numbers.h"
#include "io/text.h"
#include "option_values.h"
#include "pw/comparison.h"
#include "pw/data_paths.h"
#include "pw/fields.h"
#include "pw/published_tables.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  std::vector<std::string> predictions;
  fs::path measurements;
  std::optional<std::string> run_name;
  std::string runs = "median";
  bool published_rules = false;
  bool strict = false;
  std::optional<fs::path> output, markdown, json, html;
  std::optional<double> max_error;
  std::string phase;
  std::optional<std::string> method;
  std::optional<fs::path> hardware_folder;
};

void warn(const std::string& text) { std::cerr << "warning: " << one_line(text) << '\n'; }

int write_published_tables(const Arguments& arguments, const MethodPaths& methods) {
  for (const auto& [name, path] : methods) {
    if (!fs::is_directory(path)) {
      throw UsageError("--pred " + path.string() +
                       " is a file, expected a folder under --published-rules");
    }
  }
  const auto files = published_tables(methods, arguments.measurements, warn);
  if (files.empty()) {
    throw DataError("no prediction has a measurement in " + arguments.measurements.string());
  }
  for (const auto& [name, text] : files) {
    write_file_atomic(*arguments.output / name, text);
    std::cout << (*arguments.output / name).string() << '\n';
  }
  return kDone;
}

void write(const fs::path& path, const std::string& text) {
  write_file_atomic(path, text);
  std::cerr << "wrote " << path.string() << '\n';
}

void write_files(const Arguments& arguments, const Comparison& comparison,
                 const std::vector<ErrorSummary>& summaries) {
  if (arguments.output) {
    for (const std::string& method : comparison.methods) {
      write(*arguments.output / ("comparison_" + method + ".csv"),
            comparison_csv(comparison, method));
    }
    write(*arguments.output / "summary.csv", summary_csv(summaries));
  }
  if (arguments.markdown) write(*arguments.markdown, comparison_markdown(comparison, summaries));
  if (arguments.json) write(*arguments.json, comparison_json(comparison, summaries));
  if (arguments.html) write(*arguments.html, comparison_html(comparison, summaries));
}

// What exceeds --max-mape, in one sentence; empty when nothing does.
std::string exceeded(const Arguments& arguments, const std::vector<ErrorSummary>& summaries) {
  const Metric metric = *find_metric(arguments.phase);
  std::vector<std::string> found;
  std::size_t held = 0;
  for (const ErrorSummary& s : summaries) {
    if (s.scope != "all" || s.metric != metric || s.n == 0) continue;
    if (arguments.method && s.method != *arguments.method) continue;
    ++held;
    if (s.mean <= *arguments.max_error) continue;
    char text[64];
    std::snprintf(text, sizeof text, "%.2f %%", s.mean);
    found.push_back(s.method + " (" + s.engine + ", n = " + std::to_string(s.n) + ") " + text);
  }
  if (held == 0) {
    throw DataError("no case has a " + arguments.phase + " error to hold against --max-mape");
  }
  if (found.empty()) return "";
  char limit[64];
  std::snprintf(limit, sizeof limit, "%g %%", *arguments.max_error);
  return "mean " + arguments.phase + " error above " + limit + ": " + comma_list(found);
}

void require_different_outputs(const Arguments& arguments, const MethodPaths& methods) {
  std::vector<PlannedOutput> outputs;
  if (arguments.output) {
    for (const auto& [name, path] : methods) {
      outputs.push_back(
          {*arguments.output / ("comparison_" + name + ".csv"), "the cases of " + name});
    }
    outputs.push_back({*arguments.output / "summary.csv", "the summary in --output"});
  }
  if (arguments.markdown) outputs.push_back({*arguments.markdown, "--markdown"});
  if (arguments.json) outputs.push_back({*arguments.json, "--json"});
  if (arguments.html) outputs.push_back({*arguments.html, "--html"});
  require_different_files(outputs);
}

int report(const Arguments& arguments, const Comparison& comparison) {
  const std::vector<ErrorSummary> summaries = summarise(comparison);
  std::cout << comparison_text(comparison, summaries) << std::flush;
  if (comparison.rows.empty()) {
    throw DataError("no prediction has a measurement, nothing was compared");
  }
  if (std::none_of(comparison.rows.begin(), comparison.rows.end(), [](const ComparisonRow& row) {
        return row.mean_absolute_error().has_value();
      })) {
    throw DataError(
        "no case has any error to report, expected a usable predicted and measured "
        "time of one metric: see the excluded values above");
  }
  write_files(arguments, comparison, summaries);
  if (arguments.strict && !comparison.unmatched.empty()) {
    throw DataError(
        "cases are unmatched or ambiguous (" + std::to_string(comparison.unmatched.size()) +
        (comparison.unmatched.size() == 1 ? " line" : " lines") +
        " above), expected none under --strict; the first: " + comparison.unmatched.front());
  }
  if (!arguments.max_error) return kDone;
  const std::string sentence = exceeded(arguments, summaries);
  if (sentence.empty()) return kDone;
  std::cerr << "pw-compare: " << sentence << '\n';
  return kThresholdExceeded;
}

int compare_cases(const Arguments& arguments) {
  const MethodPaths paths = find_methods(arguments.predictions);
  if (!fs::exists(arguments.measurements)) {
    throw DataError("--real " + arguments.measurements.string() + ": no such file or folder");
  }
  if (arguments.published_rules) return write_published_tables(arguments, paths);
  require_different_outputs(arguments, paths);
  if (arguments.method && std::none_of(paths.begin(), paths.end(), [&](const auto& each) {
        return each.first == *arguments.method;
      })) {
    throw UsageError("--method " + *arguments.method + " is none of the compared methods");
  }
  const HardwareCatalog catalog =
      HardwareCatalog::read(find_data_folder("hardware", arguments.hardware_folder));
  const auto measured = read_measurements(arguments.measurements, catalog, warn);
  std::vector<Method> methods;
  bool pair = !fs::is_directory(arguments.measurements);
  for (const auto& [name, path] : paths) {
    methods.push_back({name, read_predictions(path, catalog, warn)});
    pair = pair && !fs::is_directory(path);
  }
  if (arguments.run_name && !pair) {
    throw UsageError("--run goes with a prediction file and a measurement file, not with folders");
  }
  const RunRule rule = *find_run_rule(arguments.runs);
  return report(arguments, pair ? compare_pair(methods, measured, arguments.run_name, rule)
                                : compare(methods, measured, rule));
}

void add_output_options(cli::App& app, Arguments& arguments) {
  const std::string group = "Output";
  app.add_option("--output", arguments.output, "Folder for comparison_<method>.csv and summary.csv")
      ->option_text("FOLDER")
      ->group(group);
  app.add_option("--markdown", arguments.markdown, "The same as Markdown")
      ->option_text("FILE")
      ->group(group);
  app.add_option("--json", arguments.json, "The same as JSON")->option_text("FILE")->group(group);
  app.add_option("--html", arguments.html, "A page with figures, self-contained")
      ->option_text("FILE")
      ->group(group);
}

// CLI11's own check lets nan and inf through.
std::string check_limit(const std::string& text) {
  const auto limit = parse_number(text);
  if (limit && std::isfinite(*limit) && *limit >= 0) return "";
  return "'" + text + "', expected a number of at least 0";
}

void add_limit_options(cli::App& app, Arguments& arguments) {
  const std::string group = "Limits (for automatic checks)";
  cli::Option* limit = app.add_option("--max-mape", arguments.max_error,
                                      "Exit with 4 if a method's mean absolute error is above this")
                           ->check(cli::Check(check_limit))
                           ->option_text("PERCENT")
                           ->group(group);
  cli::Option* phase =
      app.add_option("--phase", arguments.phase, "Phase of --max-mape: prefill, decode or total")
          ->check(cli::IsMember({"prefill", "decode", "total"}))
          ->option_text("PHASE")
          ->needs(limit)
          ->group(group);
  limit->needs(phase);
  app.add_option("--method", arguments.method, "Method of --max-mape; default: every one")
      ->option_text("NAME")
      ->needs(limit)
      ->group(group);
  app.add_flag("--strict", arguments.strict, "Exit with 3 if a case is unmatched or ambiguous")
      ->group(group);
}

}  // namespace

void add_compare_cases(cli::App& app, Action& action) {
  const auto arguments = std::make_shared<Arguments>();
  cli::Option* predictions =
      app.add_option("--pred", arguments->predictions,
                     "Predictions: a folder of JSON files, a JSON file or a CSV; repeat it for\n"
                     "several methods. The name is that of the folder without _pred")
          ->option_text("[NAME=]PATH")
          ->allow_extra_args(false);
  cli::Option* real = app.add_option("--real", arguments->measurements,
                                     "Measurements: a folder, an SGLang .jsonl, a vLLM .json or "
                                     "a CSV")
                          ->option_text("PATH");
  app.add_option("--run", arguments->run_name,
                 "Runs of the measurement file to compare a prediction file with, by run_name")
      ->option_text("NAME");
  cli::Option* runs =
      app.add_option(
             "--runs", arguments->runs,
             "Measured value of a case with several runs: median (default), mean, best,\n"
             "worst, without-first (median without the first run). best is the run closest\n"
             "to the prediction")
          ->check(cli::IsMember({"median", "mean", "best", "worst", "without-first"}))
          ->option_text("RULE");
  cli::Option* rules =
      app.add_flag("--published-rules", arguments->published_rules,
                   "Write the tables of the original scripts into --output, byte for byte")
          ->excludes(runs);
  app.add_option("--hardware-dir", arguments->hardware_folder, "Folder of GPU specs (*.json)")
      ->option_text("FOLDER");
  add_output_options(app, *arguments);
  add_limit_options(app, *arguments);
  for (const char* other : {"--run", "--markdown", "--json", "--html", "--max-mape", "--strict"}) {
    rules->excludes(app.get_option(other));
  }
  rules->needs(app.get_option("--output"));
  app.parse_complete_callback([&app, &action, arguments, predictions, real] {
    if (!app.get_subcommands().empty()) return;
    if (predictions->empty()) throw cli::RequiredError("--pred");
    if (real->empty()) throw cli::RequiredError("--real");
    action = [arguments] { return compare_cases(*arguments); };
  });
}

}  // namespace pw
