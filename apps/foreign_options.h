#pragma once

#include <optional>

#include "cli.h"
#include "pw/foreign_module.h"

namespace pw {

// --input-transform, for modules that pw-train has not written.
cli::Option* add_input_transform_option(cli::App& app, std::optional<InputTransform>& transform);

// --operator and --input-transform, for commands about one file.
void add_foreign_options(cli::App& app, ForeignModule& foreign);

}  // namespace pw
