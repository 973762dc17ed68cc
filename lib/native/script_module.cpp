#include "native/script_module.h"

#include <algorithm>

#include "pw/fields.h"

namespace pw {

// The checksum of a checkpoint says that it is undamaged, so what cannot be read is unknown.
ScriptModule::ScriptModule(const ZipArchive& archive, const std::string& origin) try
    : archive_(archive),
      origin_(origin),
      data_(archive.member("data.pkl"), "data.pkl", PickleContent::script_module) {
} catch (const DataError& error) {
  throw UnknownNetwork(error.what());
}

const PickleValue& ScriptModule::value(const std::string& path) const {
  const PickleValue* value = &data_.root();
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const auto* object = value->as<PickleValue::Object>();
    value = object == nullptr ? nullptr : object->attributes.find(path.substr(begin, end - begin));
    if (value == nullptr) throw UnknownNetwork("it has no attribute " + path);
    begin = end + 1;
  }
  return *value;
}

const ScriptClass& ScriptModule::class_of(const std::string& path) const {
  static const ScriptClass kNoMethods;
  const auto* object = value(path).as<PickleValue::Object>();
  if (object == nullptr) throw UnknownNetwork("its attribute " + path + " is no module");
  const std::size_t dot = object->class_name.rfind('.');
  const std::string scope = object->class_name.substr(0, dot);
  auto source = sources_.find(scope);
  if (source == sources_.end()) {
    std::string file = scope;
    std::replace(file.begin(), file.end(), '.', '/');
    const std::optional<std::string> text = archive_.text("code/" + file + ".py");
    if (!text) throw UnknownNetwork("it has no code of " + scope);
    source = sources_.emplace(scope, parse_script_classes(*text)).first;
  }
  const auto found = source->second.find(object->class_name.substr(dot + 1));
  return found == source->second.end() ? kNoMethods : found->second;
}

bool ScriptModule::has_method(const std::string& name) const {
  return class_of("").count(name) != 0;
}

ScriptExprPtr ScriptModule::method(const std::string& path, const std::string& name) const {
  const ScriptClass& methods = class_of(path);
  const auto found = methods.find(name);
  if (found == methods.end()) throw UnknownNetwork("it has no method " + name + " of one tensor");
  return returned_value(found->second, path);
}

StateTensor ScriptModule::tensor(const std::string& path) const {
  const auto* tensor = value(path).as<PickleValue::Tensor>();
  if (tensor == nullptr) throw UnknownNetwork("its attribute " + path + " is no tensor");
  return read_tensor(*tensor, archive_, origin_ + ": the tensor '" + path + "'");
}

}  // namespace pw
