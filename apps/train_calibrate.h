#pragma once

#include <functional>

#include "cli.h"

namespace pw {

// Adds `calibrate` to `parent`: the two sustained rates of a GPU from measured GEMMs, for its
// hardware file. When it is chosen, `action` becomes what the program has to do.
void add_calibrate_command(cli::App& parent, std::function<int()>& action);

}  // namespace pw
