#pragma once

#include <functional>

#include "cli.h"

namespace pw {

// Adds `import` to `parent`: converts a checkpoint of the original's Python programs. When it is
// chosen on the command line, `action` becomes what the program has to do.
void add_import_command(cli::App& parent, std::function<int()>& action);

}  // namespace pw
