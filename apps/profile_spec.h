#pragma once

#include <functional>

#include "cli.h"

namespace pw {

void add_spec_command(cli::App& app, std::function<int()>& action);

}  // namespace pw
