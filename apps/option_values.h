#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pw/hardware_catalog.h"

namespace pw {

// For cli::Check: what is wrong with an operator's name, or an empty text.
std::string check_operator_name(const std::string& name);
// The same for names of models, which are those of operators, attn_ragged and attn_paged.
std::string check_model_name(const std::string& name);

// A GPU that an option names; throws UsageError that lists the known ones.
const HardwareSpec& asked_gpu(const HardwareCatalog& catalog, const std::string& name);

// A file that a program is going to write, and what it is made of: "--json" or "GPU A40".
struct PlannedOutput {
  std::filesystem::path path;
  std::string of;
};
// Throws UsageError that names both where two of them would be one file.
void require_different_files(const std::vector<PlannedOutput>& outputs);

}  // namespace pw
