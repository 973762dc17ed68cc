#include "option_values.h"

#include <map>

#include "pw/fields.h"
#include "pw/operators.h"

namespace pw {

namespace fs = std::filesystem;

std::string check_operator_name(const std::string& name) {
  try {
    operator_family(name);
    return "";
  } catch (const DataError& error) {
    return error.what();
  }
}

std::string check_model_name(const std::string& name) {
  return name == "attn_ragged" || name == "attn_paged" ? "" : check_operator_name(name);
}

const HardwareSpec& asked_gpu(const HardwareCatalog& catalog, const std::string& name) {
  try {
    return catalog.get(name);
  } catch (const DataError& error) {
    throw UsageError(error.what());
  }
}

void require_different_files(const std::vector<PlannedOutput>& outputs) {
  std::map<fs::path, std::string> known;
  for (const PlannedOutput& output : outputs) {
    const auto [before, is_new] =
        known.emplace(fs::weakly_canonical(fs::absolute(output.path)), output.of);
    if (!is_new) {
      throw UsageError(before->second + " and " + output.of + " would both be written to " +
                       output.path.string() + ", expected different files");
    }
  }
}

}  // namespace pw
