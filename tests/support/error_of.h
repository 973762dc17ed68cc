#pragma once

#include <string>

#include "pw/fields.h"

namespace pw {

// The message of the DataError that `action` throws, or what to see in a failed comparison.
template <class Action>
std::string error_of(Action&& action) {
  try {
    action();
  } catch (const DataError& error) {
    return error.what();
  }
  return "(no DataError)";
}

}  // namespace pw
