#pragma once

#include <functional>

#include "cli.h"

namespace pw {

// Adds `copies` to `parent`: tells an older checkpoint how many sets of operands its training rows
// used in turn. When it is chosen on the command line, `action` becomes what the program has to do.
void add_copies_command(cli::App& parent, std::function<int()>& action);

}  // namespace pw
