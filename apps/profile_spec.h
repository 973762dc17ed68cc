#pragma once

#include <functional>

#include <CLI/CLI.hpp>

namespace pw {

void add_spec_command(CLI::App& app, std::function<int()>& action);

}  // namespace pw
