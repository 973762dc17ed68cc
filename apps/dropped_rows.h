#pragma once

#include <map>
#include <ostream>
#include <string>

#include "pw/dataset.h"

namespace pw {

// How many rows were left out beside those that were used, and for each reason how many and where
// the first ones stand. Nothing when all rows were used.
void print_dropped(std::ostream& stream, const std::map<std::string, DroppedRows>& dropped,
                   std::size_t used_rows);

}  // namespace pw
