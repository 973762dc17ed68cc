#pragma once

#include <string>
#include <vector>

#include "cli.h"

namespace pw {

// Adds `--config` to a command.
void add_config_option(cli::App& command);

// The command line with the options of the file that `--config` names behind it, those left out
// that the command line has itself. The file is a JSON object: names of options (without dashes in
// front, `-` or `_` within) to a value, a list of values, or true for a flag. Throws DataError for
// an unknown name. `arguments` is without the program's name.
std::vector<std::string> with_config_file(const cli::App& app, std::vector<std::string> arguments);

}  // namespace pw
