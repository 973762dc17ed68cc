#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/files.h"
#include "lib/compare/comparison_fixture.h"
#include "support/built.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

// The first browser that is installed, or an empty text.
std::string find_browser(const TemporaryFolder& folder) {
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
    if (run_program(folder.path(), "which", {name}).exit_code == 0) return name;
  }
  return "";
}

// The page as the browser has it after its scripts ran; messages of the console in `errors`.
ProgramResult dump_dom(const TemporaryFolder& folder, const std::string& browser,
                       const fs::path& page) {
  const std::string profile = (folder.path() / "profile").string();
  return run_program(folder.path(), "timeout",
                     {"1800", browser, "--headless", "--no-sandbox", "--disable-gpu",
                      "--disable-quic", "--no-first-run", "--disable-background-networking",
                      "--disable-component-update", "--disable-sync", "--user-data-dir=" + profile,
                      "--enable-logging=stderr", "--dump-dom", "file://" + page.string()});
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(HtmlReport, RendersInABrowserWithoutConsoleMessages) {
  const TemporaryFolder folder;
  const std::string browser = find_browser(folder);
  if (browser.empty()) GTEST_SKIP() << "no browser: install chromium to run this";
  fs::create_directory(folder.path() / "a_pred");
  fs::create_directory(folder.path() / "real");
  for (const char* gpu : {"A100", "H20"}) {
    folder.file(std::string("a_pred/D_arxiv_8_fa2_tp1_pp1_") + gpu + ".json",
                times_json("105", "10", "1000"));
    folder.file(std::string("real/e2e_") + gpu + ".jsonl",
                run_line("D-arxiv_8", 0, "0.1", "0.01", "1"));
  }
  const ProgramResult made =
      run_program(folder.path(), program("pw-compare"),
                  {"--pred", "a_pred", "--real", "real", "--html", "r.html"});
  ASSERT_EQ(made.exit_code, 0) << made.errors;

  const ProgramResult page = dump_dom(folder, browser, folder.path() / "r.html");
  ASSERT_EQ(page.exit_code, 0) << page.errors;
  EXPECT_EQ(count(page.output, "<circle"), 6u) << "two cases in three phases";
  EXPECT_EQ(count(page.output, "<svg"), 6u);
  EXPECT_EQ(count(page.output, "class=\"sorts\"") + count(page.output, "class=\"left sorts\""), 17u)
      << "the script made every column sortable";
  EXPECT_THAT(page.errors, Not(HasSubstr("CONSOLE")));

  // The same way an error would be seen.
  std::string broken = read_file(folder.path() / "r.html");
  broken.insert(broken.find("<script>") + 8, "no_such_function();");
  const ProgramResult failing = dump_dom(folder, browser, folder.file("broken.html", broken));
  EXPECT_THAT(failing.errors, HasSubstr("CONSOLE"));
}

}  // namespace
}  // namespace pw
