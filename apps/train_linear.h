#pragma once

#include <functional>

#include "cli.h"

namespace pw {

// Adds `linear` to `parent`: fits the linear baseline of one operator and writes it into a JSON
// file beside those of other operators. When it is chosen, `action` becomes what the program has to
// do.
void add_linear_command(cli::App& parent, std::function<int()>& action);

}  // namespace pw
