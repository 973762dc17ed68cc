#pragma once

#include <map>
#include <string>

#include "io/pickle.h"
#include "io/pickle_tensor.h"
#include "io/zip_archive.h"
#include "native/script_code.h"

namespace pw {

// A TorchScript module, read from its archive without LibTorch.
class ScriptModule {
 public:
  // `origin` names the file in messages. Both must outlive the module. Throws UnknownNetwork when
  // the archive holds values other than plain modules have.
  ScriptModule(const ZipArchive& archive, const std::string& origin);

  bool has_method(const std::string& name) const;
  // What a method of the submodule at a path, "" for the module itself, computes from one tensor.
  // Throws UnknownNetwork.
  ScriptExprPtr method(const std::string& path, const std::string& name) const;
  // An attribute by its path, "member0.weight1". Throws UnknownNetwork when it is no tensor of the
  // known kinds, DataError for values that are not finite.
  StateTensor tensor(const std::string& path) const;

 private:
  const PickleValue& value(const std::string& path) const;
  const ScriptClass& class_of(const std::string& path) const;

  const ZipArchive& archive_;
  const std::string& origin_;
  Pickle data_;
  mutable std::map<std::string, std::map<std::string, ScriptClass>> sources_;  // by namespace
};

}  // namespace pw
