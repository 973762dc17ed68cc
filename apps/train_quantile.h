#pragma once

#include <functional>

#include "cli.h"

namespace pw {

// Adds `quantile` to `parent`: fits the ceiling of performance to profiled durations of one
// operator. When it is chosen on the command line, `action` becomes what the program has to do.
void add_quantile_command(cli::App& parent, std::function<int()>& action);

}  // namespace pw
