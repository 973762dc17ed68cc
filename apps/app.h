#pragma once

#include <functional>

#include "cli.h"

namespace pw {

// Exit codes of all programs.
enum ExitCode {
  kDone = 0,
  kInternalError = 1,
  kUsageError = 2,         // the command line: missing options, values that no file can make good
  kBadData = 3,            // a file, or what is asked of it
  kThresholdExceeded = 4,  // a limit that the user set
  kStopped = 5,            // by Ctrl-C or SIGTERM; the message says what was saved
};

// Parses the command line with the options of a configuration file (config_file.h), then runs
// `body`: the one place where exceptions and signals become one sentence on stderr and an exit
// code.
int run_app(cli::App& app, int argc, char** argv, const std::function<int()>& body);

// Of a program that works with and without subcommand: throws a usage error if options of the
// program itself stand before a subcommand, where they would be lost.
void refuse_main_options(cli::App& app);

}  // namespace pw
