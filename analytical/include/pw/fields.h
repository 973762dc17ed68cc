#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace pw {

// Input that a person can fix: one sentence that names file, line or path, field, what was found
// and what was expected. Programs print it and exit with code 3.
class DataError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A question that no data can answer: an option's value, or options that do not go together.
// Programs print it and exit with code 2.
class UsageError : public DataError {
 public:
  using DataError::DataError;
};

// A record of named values: one CSV row or one JSON object. Every getter throws DataError when the
// field is absent, empty or not of the asked type.
class Fields {
 public:
  virtual ~Fields() = default;

  virtual bool has(std::string_view name) const = 0;
  virtual std::int64_t integer(std::string_view name) const = 0;
  virtual double number(std::string_view name) const = 0;  // finite
  virtual bool flag(std::string_view name) const = 0;      // 0, 1, true, false
  virtual std::string text(std::string_view name) const = 0;
  virtual std::vector<std::int64_t> integers(std::string_view name) const = 0;

  // Where the field stands, for messages: "gemm.csv:17: column 'tile_M'".
  virtual std::string where(std::string_view name) const = 0;
};

// An integer field that must be at least `minimum`.
std::int64_t integer_at_least(const Fields& fields, std::string_view name, std::int64_t minimum);

// The field weight_copies, at least 1, if there is one: pw/operand_copies.h.
double copies_or(double otherwise, const Fields& fields);

}  // namespace pw
