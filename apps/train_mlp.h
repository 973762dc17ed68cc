#pragma once

#include <functional>

#include "cli.h"

namespace pw {

// Adds `mlp` to `parent`: fits the published network to profiled durations of one operator. When it
// is chosen on the command line, `action` becomes what the program has to do.
void add_mlp_command(cli::App& parent, std::function<int()>& action);

}  // namespace pw
