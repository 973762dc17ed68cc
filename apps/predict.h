#pragma once

#include <functional>

#include "cli.h"

namespace pw {

// The commands of pw-predict. Each adds its options to `app`; when the command line chooses it,
// `action` becomes what the program has to do.
using Action = std::function<int()>;
void add_predict_workload(cli::App& app, Action& action);   // the program without a subcommand
void add_predict_operators(cli::App& app, Action& action);  // `operators`
void add_predict_sweep(cli::App& app, Action& action);      // `sweep`
void add_predict_merge(cli::App& app, Action& action);      // `merge`
void add_predict_info(cli::App& app, Action& action);       // `info`
void add_predict_evaluate(cli::App& app, Action& action);   // `evaluate`

}  // namespace pw
