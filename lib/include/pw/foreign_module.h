#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pw {

// What is done to raw features before a module of somebody else gets them.
enum class InputTransform { none, log1p };
InputTransform parse_input_transform(std::string_view text);  // "none", "log1p"

// What a TorchScript file that pw-train has not written does not say about itself. Such a module
// takes [rows, features] and gives the efficiency of each row, [rows] or [rows, 1].
struct ForeignModule {
  std::string model_name;  // "gemm", or "attn_ragged", "attn_paged"; empty: not told
  std::optional<InputTransform> input_transform;
};

}  // namespace pw
