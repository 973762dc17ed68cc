#pragma once

#include <functional>

#include "cli.h"

namespace pw {

// What pw-profile does without a command: measures operators.
void add_operator_profile(cli::App& app, std::function<int()>& action);

}  // namespace pw
