#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/csv_table.h"
#include "io/files.h"
#include "io/json_file.h"
#include "lib/compare/comparison_fixture.h"
#include "support/built.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

const std::string kProgram = program("pw-compare");

ProgramResult compare(const TemporaryFolder& folder, const std::vector<std::string>& arguments) {
  return run_program(folder.path(), kProgram, arguments);
}

// Two methods on two cases: folders a_pred, b_pred and real.
struct Folders : TemporaryFolder {
  Folders() {
    for (const char* name : {"a_pred", "b_pred", "real"}) fs::create_directory(path() / name);
    file("a_pred/D_arxiv_8_fa2_tp1_pp1_A100.json", times_json("105", "10", "1000"));
    file("a_pred/D_arxiv_8_fa2_tp2_pp1_H20.json", times_json("110", "10", "1100"));
    file("b_pred/D_arxiv_8_fa2_tp1_pp1_A100.json", times_json("150", "NaN", "1500"));
    file("b_pred/D_arxiv_8_fa2_tp4_pp1_H20.json", times_json("1", "1", "1"));
    // The published spelling: tp of the record must agree with the name's.
    std::string text = times_json("110", "10", "1100");
    text.replace(text.find("\"tp_size\": 1"), 12, "\"tp_size\": 2");
    file("a_pred/D_arxiv_8_fa2_tp2_pp1_H20.json", text);
    file("real/e2e_A100.jsonl", run_line("D-arxiv_8", 0, "0.1", "0.01", "1"));
    file("real/e2e_tp2_H20.jsonl", run_line("D-arxiv_8", 0, "0.1", "0.01", "1"));
  }
};

TEST(PwCompare, FoldersOfSeveralMethods) {
  const Folders folder;
  const ProgramResult result =
      compare(folder, {"--pred", "a_pred", "--pred", "mine=b_pred/", "--real", "real", "--output",
                       "out", "--markdown", "r.md", "--json", "r.json", "--html", "r.html"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("median of the runs"));
  EXPECT_THAT(result.output, HasSubstr("unmatched: mine: D arxiv_8 tp1 pp1 on H20"));
  EXPECT_THAT(result.output,
              HasSubstr("unmatched: mine: no prediction of e2e_tp2_H20.jsonl: D-arxiv_8"));
  EXPECT_THAT(result.output, HasSubstr("excluded: mine: D arxiv_8 tp1 pp1 on A100: decode: no "
                                       "usable prediction"));
  EXPECT_THAT(result.errors, HasSubstr("NaN or Infinity"));
  const CsvTable a = CsvTable::read(folder.path() / "out/comparison_a.csv");
  ASSERT_EQ(a.rows(), 2u);
  EXPECT_EQ(a.cell(0, a.column("MAPE_prefill(%)")), "5.0");
  EXPECT_EQ(a.cell(1, a.column("MAPE_prefill(%)")), "10.0");
  const CsvTable b = CsvTable::read(folder.path() / "out/comparison_mine.csv");
  ASSERT_EQ(b.rows(), 1u);
  EXPECT_EQ(b.cell(0, b.column("MAPE_decode(%)")), "n/a");
  EXPECT_EQ(read_json(folder.path() / "r.json")["cases"].size(), 3u);
  EXPECT_GT(CsvTable::read(folder.path() / "out/summary.csv").rows(), 5u);
  EXPECT_THAT(read_file(folder.path() / "r.md"), HasSubstr("| mine | SGLang | decode | n/a |"));
  EXPECT_THAT(read_file(folder.path() / "r.html"), HasSubstr("</html>"));
}

TEST(PwCompare, AFolderOfMethodFoldersAndEqualBytes) {
  const Folders folder;
  for (const char* out : {"one", "two"}) {
    EXPECT_EQ(compare(folder, {"--pred", ".", "--real", "real", "--output", out, "--html",
                               std::string(out) + "/r.html"})
                  .exit_code,
              0);
  }
  for (const char* file : {"comparison_a.csv", "comparison_b.csv", "summary.csv", "r.html"}) {
    EXPECT_EQ(read_file(folder.path() / "one" / file), read_file(folder.path() / "two" / file));
  }
}

TEST(PwCompare, LimitsAndStrictness) {
  const Folders folder;
  const auto code = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"--pred", "a_pred", "--pred", "b_pred", "--real", "real"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return compare(folder, arguments);
  };
  EXPECT_EQ(code({"--max-mape", "10", "--phase", "prefill", "--method", "a"}).exit_code, 0);
  const ProgramResult above = code({"--max-mape", "7", "--phase", "prefill", "--method", "a"});
  EXPECT_EQ(above.exit_code, 4);
  EXPECT_EQ(above.errors.substr(above.errors.rfind("pw-compare")),
            "pw-compare: mean prefill error above 7 %: a (sglang, n = 2) 7.50 %\n");
  EXPECT_EQ(code({"--max-mape", "10", "--phase", "prefill"}).exit_code, 4) << "b has 50 %";
  EXPECT_EQ(code({"--max-mape", "10", "--phase", "decode", "--method", "b"}).exit_code, 3)
      << "no decode error of b";
  EXPECT_EQ(code({"--max-mape", "10", "--phase", "total", "--method", "c"}).exit_code, 2);
  const ProgramResult same = code({"--json", "errors", "--html", "./errors"});
  EXPECT_EQ(same.exit_code, 2);
  EXPECT_THAT(same.errors, HasSubstr("--json and --html would both be written to ./errors"));
  EXPECT_EQ(code({"--output", "t", "--markdown", "t/summary.csv"}).exit_code, 2);
  EXPECT_EQ(code({"--max-mape", "10"}).exit_code, 2) << "which phase?";
  for (const char* limit : {"nan", "-1", "inf", "ten", "5%"}) {
    const ProgramResult refused = code({"--max-mape", limit, "--phase", "total"});
    EXPECT_EQ(refused.exit_code, 2) << limit;
    EXPECT_THAT(refused.errors, HasSubstr("--max-mape"));
    EXPECT_THAT(refused.errors,
                HasSubstr(std::string("'") + limit + "', expected a number of at least 0"));
  }
  const ProgramResult strict = code({"--strict"});
  EXPECT_EQ(strict.exit_code, 3);
  EXPECT_THAT(strict.errors, HasSubstr("cases are unmatched or ambiguous (2 lines above)"));
}

TEST(PwCompare, D04EveryRuleIsStated) {
  const TemporaryFolder folder;
  folder.file("p.json", times_json("110", "10", "1110"));
  std::string runs;
  for (const char* prefill : {"0.4", "0.104", "0.096", "0.1", "0.102"}) {
    runs += run_line("D-arxiv_8", static_cast<int>(std::count(runs.begin(), runs.end(), '\n')),
                     prefill, "0.01", "1.1");
  }
  folder.file("r.jsonl", runs);
  const std::vector<std::vector<std::string>> cases{{"median", "median of 5", "7.8431"},
                                                    {"without-first", "median of 4", "8.9109"},
                                                    {"mean", "mean of 5", "31.4214"},
                                                    {"best", "best of 5", "5.7692"},
                                                    {"worst", "worst of 5", "72.5"}};
  for (const auto& each : cases) {
    const ProgramResult result = compare(
        folder, {"--pred", "p.json", "--real", "r.jsonl", "--runs", each[0], "--output", "o"});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_THAT(result.output, HasSubstr(each[1]));
    const CsvTable csv = CsvTable::read(folder.path() / "o/comparison_p.csv");
    EXPECT_EQ(csv.cell(0, csv.column("MAPE_prefill(%)")), each[2]) << each[0];
    EXPECT_EQ(csv.cell(0, csv.column("n_runs")), "5");
    EXPECT_THAT(std::string(csv.cell(0, csv.column("rule"))), HasSubstr(each[1]));
  }
}

TEST(PwCompare, D05TheRunIsTheOneOfThatName) {
  const TemporaryFolder folder;
  folder.file("M_arxiv_12_fa2_tp1_pp1_RTX_6000_Ada.json", times_json("90", "10", "1000"));
  folder.file("r.jsonl", run_line("M-arxiv_1", 0, "0.001", "0.01", "1") +
                             run_line("M-arxiv_12", 0, "0.1", "0.01", "1") +
                             run_line("", 0, "0.09", "0.01", "1"));
  const ProgramResult result =
      compare(folder, {"--pred", "M_arxiv_12_fa2_tp1_pp1_RTX_6000_Ada.json", "--real", "r.jsonl"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("RTX_6000_Ada"));
  EXPECT_THAT(result.output, HasSubstr("-10.00"));
  EXPECT_THAT(result.errors, HasSubstr("r.jsonl:3: run.run_name is missing or empty"));
}

TEST(PwCompare, D08PlainCsv) {
  const TemporaryFolder folder;
  folder.file("p.csv", "name,pred_ms\na,12\nb,5\nc,nan\nd,7\nonly_predicted,9\n");
  folder.file("r.csv", "name,real_ms\na,10\nb,0\nc,50\nd,\nonly_measured,3\n");
  const ProgramResult result =
      compare(folder, {"--pred", "p.csv", "--real", "r.csv", "--output", "."});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const CsvTable summary = CsvTable::read(folder.path() / "summary.csv");
  EXPECT_EQ(summary.cell(0, summary.column("mean(%)")), "20.0");
  EXPECT_EQ(summary.cell(0, summary.column("n")), "1");
  EXPECT_EQ(summary.cell(0, summary.column("n_excluded")), "3");
  for (const char* line :
       {"excluded: p: b: total", "excluded: p: c: total", "excluded: p: d: total",
        "unmatched: p: only_predicted", "only_measured: no prediction"}) {
    EXPECT_THAT(result.output, HasSubstr(line));
  }
  EXPECT_THAT(result.errors, HasSubstr("p.csv:4: column 'pred_ms' is \"nan\""));
  const std::string csv = read_file(folder.path() / "comparison_p.csv");
  EXPECT_THAT(csv, Not(HasSubstr("nan")));
  EXPECT_THAT(csv, Not(HasSubstr("inf")));
}

TEST(PwCompare, Operators) {
  const TemporaryFolder folder;
  folder.file("out.csv", "seq,dim,hardware,predicted_duration_us\n1,2,A100,11\n2,2,H20,300\n");
  folder.file("data.csv", "seq,dim,hardware,avg_duration\n1,2,A100,10\n2,2,H20,200\n");
  const ProgramResult result = compare(
      folder, {"operators", "--pred", "out.csv", "--real", "data.csv", "--output", "errors.csv"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("NVIDIA H20"));
  const CsvTable csv = CsvTable::read(folder.path() / "errors.csv");
  ASSERT_EQ(csv.rows(), 5u);
  EXPECT_EQ(csv.cell(0, csv.column("mean(%)")), "30.0");
}

TEST(PwCompare, OperatorsKeepTheirInputs) {
  const TemporaryFolder folder;
  const std::string rows = "seq,hardware,predicted_duration_us,avg_duration\n1,A100,11,10\n";
  for (const char* name : {"out.csv", "data.csv"}) folder.file(name, rows);
  for (const char* output : {"out.csv", "./data.csv"}) {
    const ProgramResult result = compare(
        folder, {"operators", "--pred", "out.csv", "--real", "data.csv", "--output", output});
    EXPECT_EQ(result.exit_code, 2) << output;
    EXPECT_THAT(result.errors, HasSubstr(std::string("--output ") + output + " is the file of --"));
    for (const char* name : {"out.csv", "data.csv"}) {
      EXPECT_EQ(read_file(folder.path() / name), rows);
    }
  }
}

TEST(PwCompare, Diff) {
  const TemporaryFolder folder;
  folder.file("a.json", times_json("100", "10", "1000"));
  folder.file("b.json", times_json("150", "10", "900"));
  const ProgramResult result = compare(folder, {"diff", "a.json", "b.json"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("50.0000   50.00"));
  EXPECT_THAT(result.output, HasSubstr("-100.0000  -10.00"));
}

TEST(PwCompare, PublishedRules) {
  PW_REFERENCE_OR_SKIP(reference);
  const TemporaryFolder folder;
  const ProgramResult result =
      compare(folder, {"--published-rules", "--pred", (reference / "e2e").string(), "--real",
                       (reference / "e2e/real").string(), "--output", "tables"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(std::count(result.output.begin(), result.output.end(), '\n'), 6);
  for (const char* name : {"linear_comparison.csv", "vllm_comparison.csv"}) {
    EXPECT_TRUE(read_file(folder.path() / "tables" / name) == read_file(reference / "e2e" / name));
  }
}

struct Refused {
  std::vector<std::string> arguments;
  int exit_code;
  const char* message;
};

TEST(PwCompare, RefusesInOneLineAndWritesNothing) {
  const Folders folder;
  fs::create_directory(folder.path() / "empty");
  folder.file("two.jsonl", run_line("x", 0, "1", "1", "1") + run_line("y", 0, "1", "1", "1"));
  folder.file("broken.jsonl", "{\"run_name\": \"x\", \n");
  folder.file("p.json", times_json("1", "1", "1"));
  folder.file("none.json", times_json("NaN", "0", "null"));
  const Refused cases[] = {
      {{}, 2, "--pred is required"},
      {{"--pred", "a_pred"}, 2, "--real is required"},
      {{"--pred", "a_pred", "--real", "real", "--runs", "first"}, 2, "first"},
      {{"--published-rules", "--pred", "a_pred", "--real", "real"}, 2, "--output"},
      {{"--published-rules", "--pred", "a_pred", "--real", "real", "--output", "o", "--runs",
        "best"},
       2,
       "excludes"},
      {{"--published-rules", "--pred", "p.json", "--real", "real", "--output", "o"},
       2,
       "expected a folder under --published-rules"},
      {{"--pred", "absent", "--real", "real"}, 3, "--pred absent: no file or folder absent"},
      {{"--pred", "a_pred", "--real", "absent"}, 3, "--real absent: no such file or folder"},
      {{"--pred", "a_pred", "--pred", "a_pred/", "--real", "real"}, 2, "both called 'a'"},
      {{"--pred", "a/b=a_pred", "--real", "real"}, 2, "a name without '/'"},
      {{"--pred", "empty", "--real", "real"}, 3, "holds no .json file"},
      {{"--pred", "a_pred", "--real", "empty"}, 3, "holds no measurement"},
      {{"--pred", "p.json", "--real", "two.jsonl"}, 3, "it has x, y; choose one with --run NAME"},
      {{"--pred", "p.json", "--real", "broken.jsonl"}, 3, "broken.jsonl:1: "},
      {{"--pred", "a_pred", "--real", "real", "--run", "x"},
       2,
       "--run goes with a prediction file"},
      {{"--pred", "mine=p.json", "--real", "real", "--output", "o"}, 3, "nothing was compared"},
      {{"--pred", "none.json", "--real", "two.jsonl", "--run", "x", "--output", "o"},
       3,
       "no case has any error to report"},
      {{"diff", "p.json", "two.jsonl"}, 3, "two.jsonl"},
      {{"operators", "--pred", "p.json"}, 3, "p.json"},
  };
  for (const Refused& refused : cases) {
    const ProgramResult result = compare(folder, refused.arguments);
    EXPECT_EQ(result.exit_code, refused.exit_code) << refused.message << result.errors;
    EXPECT_THAT(result.errors, HasSubstr(refused.message));
    EXPECT_FALSE(fs::exists(folder.path() / "o"));
  }
}

TEST(PwCompare, HelpNamesEveryCommand) {
  const TemporaryFolder folder;
  const ProgramResult result = compare(folder, {"--help"});
  EXPECT_EQ(result.exit_code, 0);
  for (const char* part : {"--pred", "--runs", "--max-mape", "operators", "diff", "Exit code"}) {
    EXPECT_THAT(result.output, HasSubstr(part));
  }
}

}  // namespace
}  // namespace pw
