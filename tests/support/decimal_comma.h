#pragma once

#include <clocale>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace pw {

// While it lives, the C library writes and reads 1.5 as 1,5, as in a German host. The locale is
// made here by localedef, so that none need be installed.
class DecimalCommaLocale {
 public:
  DecimalCommaLocale() {
    folder_.file("comma.txt",
                 "comment_char %\nescape_char /\nLC_NUMERIC\ndecimal_point \",\"\n"
                 "thousands_sep \".\"\ngrouping 3;3\nEND LC_NUMERIC\n");
    // Warns of the categories that are left out and then exits with 1.
    const std::string command = "cd '" + folder_.path().string() +
                                "' && localedef --force --inputfile=comma.txt ./comma >log 2>&1";
    made_ = std::system(command.c_str()) != -1;
    const char* before = std::getenv("LOCPATH");
    if (before != nullptr) locpath_ = before;
    ::setenv("LOCPATH", folder_.path().c_str(), 1);
    made_ = made_ && std::setlocale(LC_ALL, "comma") != nullptr &&
            std::localeconv()->decimal_point == std::string(",");
  }
  ~DecimalCommaLocale() {
    std::setlocale(LC_ALL, "C");
    locpath_.empty() ? ::unsetenv("LOCPATH") : ::setenv("LOCPATH", locpath_.c_str(), 1);
  }
  DecimalCommaLocale(const DecimalCommaLocale&) = delete;
  DecimalCommaLocale& operator=(const DecimalCommaLocale&) = delete;

  bool is_set() const { return made_; }

 private:
  const TemporaryFolder folder_;
  std::string locpath_;
  bool made_ = false;
};

// Skips the test, saying so, where no such locale can be made.
#define PW_DECIMAL_COMMA_OR_SKIP(variable)                                                  \
  const pw::DecimalCommaLocale variable;                                                    \
  if (!variable.is_set()) {                                                                 \
    GTEST_SKIP() << "this C library has no localedef to make a locale with decimal commas"; \
  }

}  // namespace pw
