#pragma once

#include <functional>

#include "cli.h"

namespace pw {

// Adds `evaluate` to `parent`: how well a checkpoint predicts measured rows, or how well a training
// predicts rows, groups or GPUs that it has not seen. When it is chosen on the command line,
// `action` becomes what the program has to do.
void add_evaluate_command(cli::App& parent, std::function<int()>& action);

}  // namespace pw
