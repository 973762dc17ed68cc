#pragma once

#include <functional>

#include "cli.h"

namespace pw {

// The commands of pw-compare. Each adds its options to `app`; when the command line chooses it,
// `action` becomes what the program has to do.
using Action = std::function<int()>;
void add_compare_cases(cli::App& app, Action& action);      // the program without a subcommand
void add_compare_operators(cli::App& app, Action& action);  // `operators`
void add_compare_diff(cli::App& app, Action& action);       // `diff`

}  // namespace pw
