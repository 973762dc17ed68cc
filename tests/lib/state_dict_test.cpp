#include "io/state_dict.h"

#include <cmath>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error_of.h"
#include "support/temporary_folder.h"
#include "support/zip_writer.h"

namespace pw {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::string_literals;

// Pieces of a pickle of protocol 2, as torch.save writes them.
std::string text(const std::string& value) {
  return "X" + little_endian_bytes(value.size(), 4) + value;
}

std::string integer(int value) {
  return "J" + little_endian_bytes(static_cast<std::uint64_t>(value), 4);
}

std::string number(double value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return "G" + std::string(bytes.rbegin(), bytes.rend());
}

std::string tuple(const std::vector<int>& values) {
  std::string items;
  for (const int value : values) items += integer(value);
  return "(" + items + "t";
}

struct TensorText {
  std::string key;
  int elements;
  std::vector<int> shape;
  std::vector<int> strides;
  int offset = 0;
  std::string storage = "torch\nFloatStorage";
  std::string rebuild = "torch._utils\n_rebuild_tensor_v2";
};

std::string pickle_of(const TensorText& tensor) {
  const std::string storage = "(" + text("storage") + "c" + tensor.storage + "\n" +
                              text(tensor.key) + text("cuda:0") + integer(tensor.elements) + "tQ";
  return "c" + tensor.rebuild + "\n(" + storage + integer(tensor.offset) + tuple(tensor.shape) +
         tuple(tensor.strides) + "\x89" + "ccollections\nOrderedDict\n)RtR";
}

const std::string kEmptyOrderedDict = "ccollections\nOrderedDict\n)R";
// A 2x3 matrix and a 64-bit integer scalar.
const TensorText kMatrix = {"0", 6, {2, 3}, {3, 1}};
const TensorText kScalar = {"1", 1, {}, {}, 0, "torch\nLongStorage"};

std::string checkpoint_of(const TensorText& matrix,
                          const std::string& rest = text("epoch") + integer(7) +
                                                    text("train_loss") + number(0.25) +
                                                    text("val_loss") + number(0.5)) {
  const std::string tensors = kEmptyOrderedDict + "(" + text("w") + "q\1" + pickle_of(matrix) +
                              text("n") + pickle_of(kScalar) + "u";
  // BUILD attaches _metadata to the tensors; it is not needed.
  return "\x80\x02}(" + text("model_state_dict") + tensors + "}" + text("_metadata") +
         kEmptyOrderedDict + "sb" + rest + "u.";
}

std::string floats(const std::vector<float>& values) {
  std::string bytes(values.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

class StateDictTest : public testing::Test {
 protected:
  StateDict read(const std::string& pickle) const { return read_members(members(pickle)); }
  StateDict read_members(const std::vector<ZipMember>& members) const {
    return read_state_dict(folder_.file("m.pth", write_zip(members)));
  }
  std::string error(const std::string& pickle) const {
    return error_of([&] { read(pickle); });
  }
  static std::vector<ZipMember> members(const std::string& pickle) {
    return {{"m/data.pkl", pickle},
            {"m/byteorder", "little"},
            {"m/data/0", floats({1, 2, 3, 4, 5, -6.5})},
            {"m/data/1", little_endian_bytes(static_cast<std::uint64_t>(-9), 8)}};
  }
  const TemporaryFolder folder_;
};

TEST_F(StateDictTest, ReadsTensorsAndTrainingFigures) {
  const StateDict dict = read(checkpoint_of(kMatrix));
  EXPECT_EQ(dict.tensors.size(), 2u);
  EXPECT_THAT(dict.tensors.at("w").shape, ElementsAre(2, 3));
  EXPECT_THAT(dict.tensors.at("w").values, ElementsAre(1, 2, 3, 4, 5, -6.5));
  EXPECT_TRUE(dict.tensors.at("n").shape.empty());
  EXPECT_THAT(dict.tensors.at("n").values, ElementsAre(-9));
  EXPECT_EQ(dict.epoch, 7);
  EXPECT_EQ(dict.train_loss, 0.25);
  EXPECT_EQ(dict.validation_loss, 0.5);
}

TEST_F(StateDictTest, ValidationLossMayBeAbsentButNothingElse) {
  const std::string epoch = text("epoch") + integer(7);
  const std::string loss = text("train_loss") + number(0.25);
  EXPECT_FALSE(read(checkpoint_of(kMatrix, epoch + loss)).validation_loss.has_value());
  EXPECT_FALSE(read(checkpoint_of(kMatrix, epoch + loss + text("val_loss") + "N")).validation_loss);
  EXPECT_THAT(error(checkpoint_of(kMatrix, epoch)), HasSubstr("m.pth: no train_loss"));
  EXPECT_THAT(error(checkpoint_of(kMatrix, loss)), HasSubstr("m.pth: no epoch"));
  EXPECT_THAT(error(checkpoint_of(kMatrix, loss + text("epoch") + number(7))),
              HasSubstr("epoch has an unexpected type"));
  EXPECT_THAT(error("\x80\x02}."), HasSubstr("m.pth: no model_state_dict"));
}

TEST_F(StateDictTest, ReadsAViewIntoAStorage) {
  const StateDict dict = read(checkpoint_of({"0", 6, {3, 1}, {1, 99}, 2}));
  EXPECT_THAT(dict.tensors.at("w").values, ElementsAre(3, 4, 5));
}

TEST_F(StateDictTest, RefusesTensorsThatDoNotFitTheirStorage) {
  const std::pair<TensorText, const char*> cases[] = {
      {{"0", 6, {2, 4}, {4, 1}}, "tensor w has a shape that its storage cannot hold"},
      {{"0", 6, {2, 3}, {3, 1}, 1}, "tensor w has a shape that its storage cannot hold"},
      {{"0", 6, {2, 3}, {3, 1}, -1}, "tensor w has a shape that its storage cannot hold"},
      {{"0", 6, {-2, -3}, {3, 1}}, "tensor w has a shape that its storage cannot hold"},
      {{"0", 6, {0, 3}, {3, 1}}, "tensor w has a shape that its storage cannot hold"},
      {{"0", 6, {2147483647, 2147483647, 2147483647}, {1, 1, 1}},
       "tensor w has a shape that its storage cannot hold"},
      {{"0", 6, {2, 3}, {1, 2}}, "tensor w is not stored row by row"},
      {{"0", 6, {2, 3}, {3}}, "tensor w is not stored row by row"},
      {{"0", 7, {2, 3}, {3, 1}}, "tensor w has 24 bytes in the archive, not 7 elements"},
      {{"0", -6, {2, 3}, {3, 1}}, "tensor w has 24 bytes in the archive, not -6 elements"},
      {{"5", 6, {2, 3}, {3, 1}}, "no member data/5"},
      {{"1", 1, {}, {}, 0, "torch\nLongStorage"}, "shares its storage with another tensor"},
  };
  for (const auto& [tensor, message] : cases) {
    EXPECT_THAT(error(checkpoint_of(tensor)), HasSubstr(message));
  }
}

TEST_F(StateDictTest, RefusesGlobalsThatAStateDictDoesNotNeed) {
  TensorText tensor = kMatrix;
  tensor.storage = "torch\nHalfStorage";
  EXPECT_THAT(
      error(checkpoint_of(tensor)),
      HasSubstr("m.pth: data.pkl: it asks for Python's \"torch HalfStorage\", which a state "
                "dict does not need"));
  EXPECT_THAT(error("\x80\x02"
                    "cos\nsystem\n(" +
                    text("true") + "tR."),
              HasSubstr("it asks for Python's \"os system\""));
  // Known names in wrong places.
  tensor = kMatrix;
  tensor.rebuild = "torch\nFloatStorage";
  EXPECT_THAT(error(checkpoint_of(tensor)), HasSubstr("a storage class is called"));
  tensor = kMatrix;
  tensor.storage = "collections\nOrderedDict";
  EXPECT_THAT(error(checkpoint_of(tensor)), HasSubstr("another class than FloatStorage"));
}

TEST_F(StateDictTest, RefusesDamagedPickles) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "the pickle ends too early"},
      {"\x80\x03}.", "not a pickle of protocol 2"},
      {"\x80\x02.", "the pickle is damaged"},
      {"\x80\x02}}.", "the pickle is damaged"},
      {"\x80\x02(}.", "the pickle is damaged"},
      {"\x80\x02h\1.", "the pickle is damaged"},
      {"\x80\x02q\1.", "the pickle is damaged"},
      {"\x80\x02t.", "the pickle is damaged"},
      {"\x80\x02}(K\1u.", "the pickle is damaged"},
      {"\x80\x02(\x85.", "the pickle is damaged"},
      {"\x80\x02K\1K\1K\1s.", "another type"},
      {"\x80\x02K\1K\1a.", "another type"},
      {"\x80\x02)Q.", "another length"},
      {"\x80\x02"
       "ccollections\nOrderedDict\n.",
       "holds no dict"},
      {"\x80\x02"
       "ccollections",
       "the pickle ends too early"},
      {"\x80\x02X\xFF\xFF\xFF\xFFx", "the pickle ends too early"},
      {"\x80\x02\x8a\x09"
       "123456789.",
       "more than 64 bits"},
      {"\x80\x02i.", "opcode 105 does not belong in a state dict"},
      {"\x80\x02](h\1a.", "the pickle is damaged"},
  };
  for (const auto& [pickle, message] : cases) EXPECT_THAT(error(pickle), HasSubstr(message));

  const std::string whole = checkpoint_of(kMatrix);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(error(whole.substr(0, size)), HasSubstr("m.pth: data.pkl: ")) << size;
  }
}

TEST_F(StateDictTest, ReadsTheOpcodesThatOtherWritersUse) {
  const std::string rest = text("list") + "]K\1a(K\2K\3e" + "r" + little_endian_bytes(500, 4) +
                           text("again") + "j" + little_endian_bytes(500, 4) + text("none") + "N" +
                           text("true") + "\x88" + text("three") + "K\1K\2K\3\x87" +
                           text("train_loss") + number(1) + text("epoch") + "\x8a\x02\x01\x02";
  EXPECT_EQ(read(checkpoint_of(kMatrix, rest)).epoch, 513);
  EXPECT_EQ(read(checkpoint_of(kMatrix, rest + text("epoch") + "\x8a\x01\xFE")).epoch, -2);
  EXPECT_EQ(read(checkpoint_of(kMatrix, rest + text("epoch") + "\x8a\x00"s)).epoch, 0);
  EXPECT_EQ(read(checkpoint_of(kMatrix, rest + text("epoch") + integer(-5))).epoch, -5);
  EXPECT_EQ(read(checkpoint_of(kMatrix, rest + text("epoch") + "M\1\2")).epoch, 513);
}

TEST_F(StateDictTest, RefusesOtherFiles) {
  auto changed = members(checkpoint_of(kMatrix));
  changed[2].crc_change = 1;
  EXPECT_THAT(error_of([&] { read_members(changed); }),
              HasSubstr("m.pth: the checksum of m/data/0 differs, the file is damaged"));
  changed = members(checkpoint_of(kMatrix));
  changed[2].content = floats({1, 2, 3, 4, 5, std::nanf("")});
  EXPECT_THAT(error_of([&] { read_members(changed); }),
              HasSubstr("m.pth: tensor w holds a value that is not finite"));
  changed = members(checkpoint_of(kMatrix));
  changed[1].content = "big";
  EXPECT_THAT(error_of([&] { read_members(changed); }), HasSubstr("the byte order is big"));
  changed = members(checkpoint_of(kMatrix));
  changed.push_back({"m/constants.pkl", ""});
  EXPECT_THAT(error_of([&] { read_members(changed); }), HasSubstr("a TorchScript archive"));
  EXPECT_THAT(error_of([&] { read_members({}); }), HasSubstr("no member data.pkl"));

  const auto legacy = folder_.file("legacy.pth", "\x80\x02\x8a\x0a rest");
  EXPECT_THAT(error_of([&] { read_state_dict(legacy); }),
              HasSubstr("legacy.pth: saved in PyTorch's old format without ZIP"));
  const auto words = folder_.file("text.pth", "hello");
  EXPECT_THAT(error_of([&] { read_state_dict(words); }),
              HasSubstr("text.pth: not a complete ZIP archive (5 bytes)"));
}

// A module as torch.jit.save writes it: an object whose state is a dict.
TEST(ScriptPickle, HoldsObjectsOfScriptClasses) {
  const std::string bytes = "\x80\x02" + "c__torch__.scope\nNet\n)\x81}("s + text("w") +
                            pickle_of(kMatrix) + text("net") + "c__torch__\nPart\n)\x81}(" +
                            text("training") + "\x89ubub.";
  const Pickle pickle(bytes, "p", PickleContent::script_module);
  const auto* net = pickle.root().as<PickleValue::Object>();
  ASSERT_NE(net, nullptr);
  EXPECT_EQ(net->class_name, "__torch__.scope.Net");
  EXPECT_NE(net->attributes.find("w")->as<PickleValue::Tensor>(), nullptr);
  const auto* part = net->attributes.find("net")->as<PickleValue::Object>();
  ASSERT_NE(part, nullptr);
  EXPECT_EQ(part->class_name, "__torch__.Part");
  EXPECT_THAT(error_of([&] { Pickle(bytes, "p"); }), HasSubstr("__torch__.scope Net"));
  const std::string foreign = "\x80\x02" + "cos\nsystem\n)\x81."s;
  EXPECT_THAT(error_of([&] { Pickle(foreign, "p", PickleContent::script_module); }),
              HasSubstr("os system"));
}

}  // namespace
}  // namespace pw
