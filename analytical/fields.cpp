#include "pw/fields.h"

namespace pw {

std::int64_t integer_at_least(const Fields& fields, std::string_view name, std::int64_t minimum) {
  const std::int64_t value = fields.integer(name);
  if (value < minimum) {
    throw DataError(fields.where(name) + " is " + std::to_string(value) +
                    ", expected an integer of at least " + std::to_string(minimum));
  }
  return value;
}

}  // namespace pw
