#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "pw/comparison.h"

namespace pw {

std::vector<std::string> split(std::string_view text, char separator);

// The catalog's stem of a GPU with `_` for spaces; the text itself for a GPU that it does not know.
std::string gpu_name(std::string_view text, const HardwareCatalog& catalog);

// "Qwen2.5-14B-arxiv_8": how SGLang's benchmark names the runs of a case.
std::string run_name_of(const CaseName& name);

std::string lower_case(std::string_view text);  // ASCII

// "llama70b" of "Llama-3.1-70B": the letters at the start and the part after the last `-`, in lower
// case. Files of vLLM measurements name the model so.
std::string vllm_model_tag(std::string_view model);

// For messages: "Qwen2.5-14B arxiv_8 tp1 pp1 on A100", or the label.
std::string describe(const CaseName& name);

// "tp4": true, and the number in `size`.
bool parse_size(std::string_view part, std::string_view prefix, std::int64_t& size);

}  // namespace pw
