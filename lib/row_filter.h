#pragma once

#include <string_view>

#include "pw/dataset.h"

namespace pw {

bool keeps(const RowFilter& filter, std::string_view cell);

}  // namespace pw
