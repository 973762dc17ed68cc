#pragma once

#include <functional>

#include "cli.h"

namespace pw {

// Adds `collective` to `parent`: fits the models of checkpoints/collectives.json to profiled
// durations. When it is chosen on the command line, `action` becomes what the program has to do.
void add_collective_command(cli::App& parent, std::function<int()>& action);

}  // namespace pw
