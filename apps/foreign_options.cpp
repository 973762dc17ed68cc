#include "foreign_options.h"

#include "option_values.h"

namespace pw {

cli::Option* add_input_transform_option(cli::App& app, std::optional<InputTransform>& transform) {
  return app
      .add_option_function<std::string>(
          "--input-transform",
          [&transform](const std::string& name) { transform = parse_input_transform(name); },
          "What a TorchScript module that pw-train has not written expects of the features: as "
          "they are (none) or log1p of them")
      ->check(cli::IsMember({"none", "log1p"}))
      ->option_text("none|log1p");
}

void add_foreign_options(cli::App& app, ForeignModule& foreign) {
  app.add_option("--operator", foreign.model_name,
                 "Operator of a module that pw-train has not written: gemm, gemm_fp8, attn, "
                 "attn_ragged, attn_paged, rmsnorm, siluandmul or moe")
      ->check(cli::Check(check_model_name))
      ->option_text("NAME");
  add_input_transform_option(app, foreign.input_transform);
}

}  // namespace pw
