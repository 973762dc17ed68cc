#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "pw/operators.h"

namespace pw {

// What is measured, in this order. Whoever stops early has a usable set: every operator is equally
// far, and what was measured is spread over the whole space of its sizes.
using ProfilePlan = std::vector<OperatorConfig>;

// Reads a plan (format in docs/profiling.md): for each operator a list of grids, each the product
// of its axes without the points beyond its limits. `operators` selects some of them; empty: all.
// Throws DataError for an operator that the plan does not have, an unknown axis, a problem that is
// none, and a grid without any point.
ProfilePlan read_profile_plan(const std::filesystem::path& path,
                              const std::vector<std::string>& operators);

// The points of a grid with `extents` values per axis, each once, as indices into its row-major
// order: a low-discrepancy sequence, so that any number of first points covers the grid evenly.
std::vector<std::size_t> space_filling_order(const std::vector<std::size_t>& extents);

}  // namespace pw
