#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "pw/fields.h"

namespace pw {

using Json = nlohmann::ordered_json;

// Throws DataError with file and line when the file is absent, empty or no JSON, and when an object
// has the same key twice. A UTF-8 byte-order mark is skipped.
Json read_json(const std::filesystem::path& path);
// The same for text already in memory; `origin` stands for the file name in messages.
Json parse_json(std::string_view text, const std::string& origin);

// The text that Python's json.dump(indent=2) writes: ASCII only, one element per line, no final
// line feed, doubles as the shortest decimal that parses back ("12.0", "1.6e-05").
std::string to_json_text(const Json& value);

// Python's repr of a finite double.
std::string python_repr(double value);
// The same for a float: the shortest decimal that parses back to this float.
std::string float32_repr(float value);
// `value` correctly rounded to `decimals` places (ties on the exact binary value go to even).
double round_decimals(double value, int decimals);

// A JSON object as a record. Keeps references: the object must outlive it.
class JsonFields : public Fields {
 public:
  // `where` names the object in messages: "a100.json" or "w.json: iterations[3].operators.gemm[0]".
  JsonFields(const Json& object, std::string where);

  bool has(std::string_view name) const override;              // present and not null
  std::int64_t integer(std::string_view name) const override;  // 4, 4.0; not "4"
  double number(std::string_view name) const override;
  bool flag(std::string_view name) const override;
  std::string text(std::string_view name) const override;
  std::vector<std::int64_t> integers(std::string_view name) const override;
  std::string where(std::string_view name) const override;

  // The value of a member that must be an object or array.
  const Json& object(std::string_view name) const;
  const Json& array(std::string_view name) const;

 private:
  const Json& value(std::string_view name) const;
  const Json& object_;
  std::string where_;
};

}  // namespace pw
