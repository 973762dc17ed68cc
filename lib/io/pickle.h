#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace pw {

// A value of a PyTorch pickle. Containers point to other values of the same Pickle.
struct PickleValue {
  struct Tuple {
    std::vector<const PickleValue*> items;
  };
  struct List {
    std::vector<const PickleValue*> items;
  };
  struct Dict {
    std::vector<std::pair<const PickleValue*, const PickleValue*>> items;
    // The last value stored under a text key, as in Python; null when absent.
    const PickleValue* find(std::string_view key) const;
  };
  enum class Global { kOrderedDict, kRebuildTensor, kFloatStorage, kLongStorage };
  // The raw elements stand in the archive's member "data/<key>".
  struct Storage {
    bool is_float = true;  // 32-bit float, else 64-bit integer
    std::string key;
    std::int64_t elements = 0;
  };
  struct Tensor {
    Storage storage;
    std::int64_t offset = 0;  // offset and strides in elements
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> strides;
  };
  // A class of TorchScript code, "__torch__.RatioNet", and an object of it.
  struct Class {
    std::string name;
  };
  struct Object {
    std::string class_name;
    Dict attributes;
  };

  template <class Type>
  const Type* as() const {
    return std::get_if<Type>(&data);
  }

  std::variant<std::monostate, bool, std::int64_t, double, std::string, Tuple, List, Dict, Global,
               Storage, Tensor, Class, Object>
      data;
};

enum class PickleContent {
  state_dict,
  script_module,  // also objects of TorchScript classes
};

// The values that a pickle describes. Nothing of it is run: the globals above are the only ones
// known, and they are built by this reader itself.
class Pickle {
 public:
  // `origin` names the pickle in messages. Throws DataError for a damaged pickle and for opcodes
  // and globals that its content does not need.
  Pickle(std::string_view bytes, const std::string& origin,
         PickleContent content = PickleContent::state_dict);
  Pickle(const Pickle&) = delete;
  Pickle& operator=(const Pickle&) = delete;

  const PickleValue& root() const { return *root_; }

 private:
  std::deque<PickleValue> values_;  // owns all, so that values may point to each other in a ring
  const PickleValue* root_ = nullptr;
};

}  // namespace pw
