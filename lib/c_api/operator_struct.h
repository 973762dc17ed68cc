#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

#include "pw.h"
#include "pw/operators.h"

namespace pw {

// A call that pw.h forbids.
class WrongUsage : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <class Pointer>
void require(Pointer pointer, const std::string& name) {
  if (pointer == nullptr) throw WrongUsage(name + " is NULL");
}

// The problem that a C struct describes, after the checks of a CSV row with the same numbers.
// `index`: its place in the caller's array, for messages. Throws WrongUsage, DataError.
OperatorConfig operator_config(const pw_operator& from, std::size_t index);

}  // namespace pw
