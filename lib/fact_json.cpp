#include "fact_json.h"

#include <algorithm>
#include <optional>

namespace pw {
namespace {

constexpr char kFacts[] = "facts", kKind[] = "kind", kSentence[] = "sentence";

template <class Value>
std::vector<Value> list_of(const Json& list) {
  return list.get<std::vector<Value>>();
}

std::optional<FactValue> read_value(const Json& json) {
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  if (!json.is_array()) return std::nullopt;
  const auto all = [&](auto is) {
    return std::all_of(json.begin(), json.end(), [&](const Json& each) { return is(each); });
  };
  if (all([](const Json& each) { return each.is_string(); })) return list_of<std::string>(json);
  if (all([](const Json& each) { return each.is_number_integer(); })) {
    return list_of<std::int64_t>(json);
  }
  return std::nullopt;
}

}  // namespace

Json facts_json(const Facts& facts) {
  Json list = Json::array();
  for (const Fact& fact : facts) {
    Json& json = list.emplace_back(
        Json{{kKind, std::string(to_string(fact.kind))}, {kSentence, fact.sentence}});
    for (const auto& [name, value] : fact.data) {
      std::visit([&json, &name = name](const auto& v) { json[name] = v; }, value);
    }
  }
  return list;
}

Facts read_facts(const JsonFields& fields) {
  Facts facts;
  if (!fields.has(kFacts)) return facts;
  const Json& list = fields.array(kFacts);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string where = fields.where(kFacts) + "[" + std::to_string(i) + "]";
    if (!list[i].is_object()) throw DataError(where + " is no object");
    const JsonFields entry(list[i], where);
    Fact fact{parse_fact_kind(entry.text(kKind)), entry.text(kSentence), {}};
    for (const auto& [name, value] : list[i].items()) {
      if (name == kKind || name == kSentence) continue;
      if (std::optional<FactValue> read = read_value(value)) {
        fact.data.emplace_back(name, std::move(*read));
      }
    }
    facts.add(std::move(fact));
  }
  return facts;
}

}  // namespace pw
