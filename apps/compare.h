#pragma once

#include <functional>

#include <CLI/CLI.hpp>

namespace pw {

// The commands of pw-compare. Each adds its options to `app`; when the command line chooses it,
// `action` becomes what the program has to do.
using Action = std::function<int()>;
void add_compare_cases(CLI::App& app, Action& action);      // the program without a subcommand
void add_compare_operators(CLI::App& app, Action& action);  // `operators`
void add_compare_diff(CLI::App& app, Action& action);       // `diff`

}  // namespace pw
