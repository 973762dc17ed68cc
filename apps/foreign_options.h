#pragma once

#include <optional>

#include <CLI/CLI.hpp>

#include "pw/foreign_module.h"

namespace pw {

// --input-transform, for modules that pw-train has not written.
CLI::Option* add_input_transform_option(CLI::App& app, std::optional<InputTransform>& transform);

// --operator and --input-transform, for commands about one file.
void add_foreign_options(CLI::App& app, ForeignModule& foreign);

}  // namespace pw
