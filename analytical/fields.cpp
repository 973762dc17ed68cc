#include "pw/fields.h"

#include "pw/operand_copies.h"

namespace pw {

std::int64_t integer_at_least(const Fields& fields, std::string_view name, std::int64_t minimum) {
  const std::int64_t value = fields.integer(name);
  if (value < minimum) {
    throw DataError(fields.where(name) + " is " + std::to_string(value) +
                    ", expected an integer of at least " + std::to_string(minimum));
  }
  return value;
}

double copies_or(double otherwise, const Fields& fields) {
  constexpr const char* kName = "weight_copies";
  if (!fields.has(kName)) return otherwise;
  const double copies = fields.number(kName);
  if (!is_copy_count(copies)) {
    throw DataError(fields.where(kName) + " is " + std::to_string(copies) + ", expected 1 to 1e6");
  }
  return copies;
}

}  // namespace pw
