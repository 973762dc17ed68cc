#include "io/state_dict.h"

#include <set>

#include "io/files.h"
#include "io/pickle.h"
#include "io/pickle_tensor.h"
#include "io/zip_archive.h"
#include "pw/fields.h"

namespace pw {
namespace {

void require_undamaged(const ZipArchive& archive, const std::string& origin) {
  for (const auto& [name, content] : archive.members()) {
    if (archive.crc_matches(name)) continue;
    throw DataError(origin + ": the checksum of " + name +
                    " differs, the file is damaged; copy or save it again");
  }
}

// What people give in place of a .pth file of PyTorch 1.6 or newer.
void require_zip_format(const std::string& bytes, const std::string& origin) {
  constexpr std::string_view kPickleProtocol = "\x80\x02";
  if (bytes.compare(0, kPickleProtocol.size(), kPickleProtocol) == 0) {
    throw DataError(origin +
                    ": saved in PyTorch's old format without ZIP; load it and save it again with "
                    "torch.save of PyTorch 1.6 or newer");
  }
}

void require_plain_state_dict(const ZipArchive& archive, const std::string& origin) {
  if (archive.has("constants.pkl")) {
    throw DataError(origin + ": a TorchScript archive, expected a state dict from torch.save");
  }
  if (archive.has("byteorder") && archive.member("byteorder") != "little") {
    throw DataError(origin + ": the byte order is " + std::string(archive.member("byteorder")) +
                    ", expected little");
  }
}

std::map<std::string, StateTensor> read_tensors(const PickleValue::Dict& dict,
                                                const ZipArchive& archive,
                                                const std::string& origin) {
  std::map<std::string, StateTensor> tensors;
  std::set<std::string> used_storages;
  for (const auto& [key, value] : dict.items) {
    const auto* name = key->as<std::string>();
    const auto* tensor = value->as<PickleValue::Tensor>();
    if (name == nullptr || tensor == nullptr) {
      throw DataError(origin + ": model_state_dict holds something else than named tensors");
    }
    const std::string where = origin + ": tensor " + *name;
    // Also keeps a small file from describing any number of large tensors.
    if (!used_storages.insert(tensor->storage.key).second) {
      throw DataError(where + " shares its storage with another tensor");
    }
    if (!tensors.emplace(*name, read_tensor(*tensor, archive, where)).second) {
      throw DataError(where + " occurs twice");
    }
  }
  return tensors;
}

template <class Type>
const Type* find(const PickleValue::Dict& dict, const char* key, const std::string& origin) {
  const PickleValue* value = dict.find(key);
  if (value == nullptr || value->as<std::monostate>() != nullptr) return nullptr;
  const auto* typed = value->as<Type>();
  if (typed == nullptr) throw DataError(origin + ": " + key + " has an unexpected type");
  return typed;
}

template <class Type>
const Type& get(const PickleValue::Dict& dict, const char* key, const std::string& origin) {
  const Type* value = find<Type>(dict, key, origin);
  if (value == nullptr) {
    throw DataError(origin + ": no " + key + ", expected a checkpoint with model_state_dict, " +
                    "epoch and train_loss");
  }
  return *value;
}

}  // namespace

StateDict read_state_dict(const std::filesystem::path& path) {
  const std::string origin = path.string();
  std::string bytes = read_file(path);
  require_zip_format(bytes, origin);
  const ZipArchive archive(std::move(bytes), origin);
  require_undamaged(archive, origin);
  require_plain_state_dict(archive, origin);

  const Pickle pickle(archive.member("data.pkl"), origin + ": data.pkl");
  const auto* root = pickle.root().as<PickleValue::Dict>();
  if (root == nullptr) throw DataError(origin + ": holds no dict, expected a checkpoint");
  StateDict result;
  result.tensors =
      read_tensors(get<PickleValue::Dict>(*root, "model_state_dict", origin), archive, origin);
  result.epoch = get<std::int64_t>(*root, "epoch", origin);
  result.train_loss = get<double>(*root, "train_loss", origin);
  if (const auto* loss = find<double>(*root, "val_loss", origin)) result.validation_loss = *loss;
  return result;
}

}  // namespace pw
