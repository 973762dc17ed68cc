#pragma once

#include <vector>

namespace pw {

// Of at least one value; the median of an even number is the mean of the two in the middle.
double mean(const std::vector<double>& values);
double median(std::vector<double> values);

}  // namespace pw
