// Signals, a full disk and a read-only folder, for each program: one sentence, the right exit code,
// nothing half-written, old outputs as they were.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <ostream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/files.h"
#include "support/built.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

namespace fs = std::filesystem;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

// A run that reads the file "input" and writes `output`, of more than 9 KB.
struct Run {
  std::string name;
  std::string program;
  std::vector<std::string> arguments;
  std::string input;
  std::string output;
};

void PrintTo(const Run& run, std::ostream* out) { *out << run.name; }

std::string gemm_rows() {
  std::string text = "M,N,K,avg_duration,hardware\n";
  for (int i = 1; i <= 60; ++i) {
    const std::string m = std::to_string(64 * i);
    text += m + ",4096,4096," + std::to_string(20 + 7 * i) + ",A100\n";
  }
  return text;
}

constexpr char kTrace[] = "num_prefill_tokens,output_tokens\n300,40\n70,40\n";
constexpr char kMeasured[] =
    R"({"run_name": "Demo-7B-arxiv_8", "prefill_latency": 0.1, "median_decode_latency": 0.01, )"
    R"("total_latency": 1.1})";
constexpr char kPredicted[] =
    R"({"summary": {"prefill_duration_ms": 100, "decode_avg_duration_ms": 11, )"
    R"("total_duration_ms": 1200}})";

const std::vector<Run>& runs() {
  static const std::vector<Run> all = [] {
    std::vector<Run> list = {
        {"PwWorkload",
         program("pw-workload"),
         {"--model", "Qwen2.5-14B", "--trace", "input", "--output", "out"},
         kTrace,
         "out/Qwen2.5-14B_input_auto_tp1_pp1.json"},
        {"PwCompare",
         program("pw-compare"),
         {"--pred", "Demo-7B_arxiv_8_H100.json", "--real", "input", "--html", "out/page.html"},
         kMeasured,
         "out/page.html"},
        {"PwPredict",
         program("pw-predict"),
         {"--model", "Qwen2.5-14B", "--trace", "input", "--hardware", "A100", "--output",
          "out/result.json"},
         kTrace,
         "out/result.json"},
    };
    if (built_with_torch()) {
      list.push_back({"PwTrain",
                      program("pw-train"),
                      {"mlp", "--operator", "gemm", "--train", "input", "--output", "out/model.pt",
                       "--epochs", "2"},
                      gemm_rows(),
                      "out/model.pt"});
    }
    return list;
  }();
  return all;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

class Interruption : public testing::TestWithParam<Run> {
 protected:
  Interruption() {
    folder_.file("Demo-7B_arxiv_8_H100.json", kPredicted);
    fs::create_directory(folder_.path() / "out");
  }
  void write_input() const { folder_.file("input", GetParam().input); }
  fs::path output() const { return folder_.path() / GetParam().output; }
  void write_old_output() const { folder_.file(GetParam().output, "old"); }
  void expect_old_output_alone() const {
    EXPECT_EQ(read_file(output()), "old");
    EXPECT_THAT(names_in(folder_.path() / "out"),
                testing::ElementsAre(output().filename().string()));
  }

  // The run inside a shell script that prepares the folder "out": "$@" is the run.
  ProgramResult run_in(const std::string& script) const {
    std::vector<std::string> arguments{"-c", script, "sh", GetParam().program};
    arguments.insert(arguments.end(), GetParam().arguments.begin(), GetParam().arguments.end());
    return run_program(folder_.path(), "sh", arguments);
  }
  // The same where the script may mount what nobody else sees.
  ProgramResult run_mounted(const std::string& script) const {
    return run_in("exec unshare --mount --map-root-user sh -c '" + script + "' sh \"$@\"");
  }
  static bool may_mount() {
    return std::system(
               "unshare --mount --map-root-user mount -t tmpfs tmpfs /tmp >/dev/null 2>&1") == 0;
  }

  const TemporaryFolder folder_;
};

// One line that begins with the program's name.
void expect_one_sentence(const ProgramResult& result, const std::string& reason) {
  EXPECT_THAT(result.errors, HasSubstr(reason));
  EXPECT_THAT(result.errors, EndsWith("\n"));
  const std::size_t last = result.errors.rfind('\n', result.errors.size() - 2) + 1;
  EXPECT_THAT(result.errors.substr(last), StartsWith("pw-"));
}

// Starts the run in `folder`, with its messages in stderr.txt there.
::pid_t start(const fs::path& folder, const Run& run) {
  std::vector<std::string> words{run.program};
  words.insert(words.end(), run.arguments.begin(), run.arguments.end());
  const ::pid_t child = ::fork();
  if (child != 0) return child;
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const bool ready = ::chdir(folder.c_str()) == 0 && std::freopen("stderr.txt", "w", stderr) &&
                     std::freopen("stdout.txt", "w", stdout);
  if (ready) ::execv(pointers[0], pointers.data());
  ::_exit(127);
}

// The end for writing of a pipe once `reader` has opened it; -1 if that ends without.
int open_once_read(const fs::path& pipe, ::pid_t reader) {
  for (;;) {
    const int writer = ::open(pipe.c_str(), O_WRONLY | O_NONBLOCK);
    if (writer >= 0 || ::waitpid(reader, nullptr, WNOHANG) != 0) return writer;
    ::usleep(10000);
  }
}

TEST_P(Interruption, TheRunItselfSucceeds) {
  write_input();
  write_old_output();
  const ProgramResult result = run_in("exec \"$@\"");
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_GT(fs::file_size(output()), 9000u);
  EXPECT_EQ(names_in(folder_.path() / "out").size(), 1u);
}

// Runs until the program reads the pipe "input", then sends the signal.
TEST_P(Interruption, SignalsEndTheProgramInOrder) {
  const fs::path pipe = folder_.path() / "input";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  write_old_output();
  for (const int signal : {SIGINT, SIGTERM}) {
    const ::pid_t program = start(folder_.path(), GetParam());
    const int writer = open_once_read(pipe, program);
    ASSERT_GE(writer, 0) << read_file(folder_.path() / "stderr.txt");
    EXPECT_EQ(::kill(program, signal), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(program, &status, 0), program);
    ::close(writer);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 5) << status;
    EXPECT_EQ(read_file(folder_.path() / "stderr.txt").find("pw-"), 0u);
    EXPECT_THAT(read_file(folder_.path() / "stderr.txt"),
                EndsWith(": stopped by a signal; no file is left half-written\n"));
    expect_old_output_alone();
  }
}

TEST_P(Interruption, AFileBeyondTheSizeLimitIsAnError) {
  write_input();
  write_old_output();
  const ProgramResult result = run_in("ulimit -f 16; exec \"$@\"");
  EXPECT_EQ(result.exit_code, 3) << result.errors;
  expect_one_sentence(result, "cannot write " + GetParam().output + ": File too large");
  expect_old_output_alone();
}

TEST_P(Interruption, AFullDiskIsAnError) {
  if (!may_mount()) GTEST_SKIP() << "no small disk can be mounted here";
  write_input();
  const ProgramResult result =
      run_mounted("mount -t tmpfs -o size=8k tmpfs out; echo old >" + GetParam().output +
                  "; \"$@\"; code=$?; ls -A out; cat out/*; exit $code");
  EXPECT_EQ(result.exit_code, 3) << result.errors;
  expect_one_sentence(result, "cannot write " + GetParam().output + ": No space left on device");
  EXPECT_THAT(result.output, EndsWith(output().filename().string() + "\nold\n"));
}

TEST_P(Interruption, AReadOnlyFolderIsAnError) {
  if (!may_mount()) GTEST_SKIP() << "no read-only folder can be mounted here";
  write_input();
  write_old_output();
  const ProgramResult result =
      run_mounted("mount --bind out out; mount -o remount,bind,ro out; \"$@\"");
  EXPECT_EQ(result.exit_code, 3) << result.errors;
  expect_one_sentence(result, "cannot write " + GetParam().output + ": Read-only file system");
  expect_old_output_alone();
}

INSTANTIATE_TEST_SUITE_P(Programs, Interruption, testing::ValuesIn(runs()),
                         [](const auto& run) { return run.param.name; });

}  // namespace
}  // namespace pw
