#pragma once

#include <functional>

#include <CLI/CLI.hpp>

namespace pw {

// What pw-profile does without a command: measures operators.
void add_operator_profile(CLI::App& app, std::function<int()>& action);

}  // namespace pw
