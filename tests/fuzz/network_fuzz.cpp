// TorchScript code of any content, read for the native engine as the code of a small network.
#include <cstring>

#include "fuzz_input.h"
#include "native/network.h"
#include "support/zip_writer.h"

namespace pw {
namespace {

constexpr std::size_t kInputs = 2;
constexpr int kHidden = 3;

std::string pickled(const std::string& text) {
  return "X" + little_endian_bytes(text.size(), 4) + text;
}

std::string pickled(int number) {
  return "J" + little_endian_bytes(static_cast<std::uint64_t>(number), 4);
}

// The members of an archive of a module __torch__.Net with the buffers of a scaling and one member
// __torch__.Member of two layers.
class Module {
 public:
  Module() {
    std::string net;
    for (const char* name : {"low", "high", "mean", "std"}) net += tensor(name, {kInputs}, 2);
    const std::string member = tensor("weight0", {kHidden, kInputs}, 0.5f) +
                               tensor("bias0", {kHidden}, 0) + tensor("weight1", {1, kHidden}, 1) +
                               tensor("bias1", {1}, -1);
    net += pickled("member0") + object("Member", member);
    members_.push_back({"m/data.pkl", "\x80\x02" + object("Net", net) + "."});
  }

  std::string archive(std::string_view code) const {
    std::vector<ZipMember> members = members_;
    members.push_back({"m/code/__torch__.py", std::string(code)});
    return write_zip(members);
  }

 private:
  static std::string object(const std::string& type, const std::string& attributes) {
    return "c__torch__\n" + type + "\n)\x81}(" + attributes + "ub";
  }

  // An attribute whose elements all have this value; stores them as a member of the archive.
  std::string tensor(const std::string& name, const std::vector<int>& shape, float value) {
    const std::string key = std::to_string(members_.size());
    std::string sizes, strides;
    int elements = 1;
    for (const int size : shape) elements *= size;
    int stride = elements;
    for (const int size : shape) {
      stride /= size;
      sizes += pickled(size);
      strides += pickled(stride);
    }
    std::string bytes(static_cast<std::size_t>(elements) * sizeof value, '\0');
    for (std::size_t at = 0; at < bytes.size(); at += sizeof value) {
      std::memcpy(bytes.data() + at, &value, sizeof value);
    }
    members_.push_back({"m/data/" + key, bytes});
    return pickled(name) + "ctorch._utils\n_rebuild_tensor_v2\n((" + pickled("storage") +
           "ctorch\nFloatStorage\n" + pickled(key) + pickled("cpu") + pickled(elements) + "tQ" +
           pickled(0) + "(" + sizes + "t(" + strides + "t\x89" + "ccollections\nOrderedDict\n)RtR";
  }

  std::vector<ZipMember> members_;
};

}  // namespace
}  // namespace pw

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pw;
  static const Module module;
  const std::string origin = "m.pt";
  const ZipArchive archive(module.archive(fuzz::as_text(data, size)), origin);
  fuzz::takes([&] {
    try {
      const Network network(ScriptModule(archive, origin));
      fuzz::require(network.inputs() == kInputs, "the network has the inputs of its weights");
      const std::vector<float> outputs = network.evaluate({1, 2, 3, 4});
      fuzz::require(outputs.size() == 2 * network.outputs(), "each row has all outputs");
    } catch (const UnknownNetwork&) {
    }
  });
  return 0;
}
