#include "io/pickle.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "io/little_endian.h"
#include "io/text.h"
#include "pw/fields.h"

// Opcodes: Python's pickletools.py; the storages and _rebuild_tensor_v2: torch/_utils.py and
// torch/serialization.py.

namespace pw {
namespace {

using Value = PickleValue;

constexpr std::pair<std::string_view, Value::Global> kGlobals[] = {
    {"collections OrderedDict", Value::Global::kOrderedDict},
    {"torch._utils _rebuild_tensor_v2", Value::Global::kRebuildTensor},
    {"torch FloatStorage", Value::Global::kFloatStorage},
    {"torch LongStorage", Value::Global::kLongStorage}};

constexpr std::string_view kScriptNamespace = "__torch__";

class Unpickler {
 public:
  Unpickler(std::string_view bytes, const std::string& origin, PickleContent content,
            std::deque<Value>& values)
      : rest_(bytes), origin_(origin), content_(content), values_(values) {}

  const Value* run() {
    constexpr int kProtocol = 0x80;
    constexpr char kStop = '.';
    if (take_number(1) != kProtocol || take_number(1) != 2) fail("not a pickle of protocol 2");
    for (;;) {
      const char opcode = take(1)[0];
      if (opcode == kStop) break;
      if (!constant(opcode) && !container(opcode) && !memo(opcode) && !call(opcode)) {
        fail("opcode " + std::to_string(static_cast<std::uint8_t>(opcode)) +
             " does not belong in a state dict");
      }
    }
    if (stack_.size() != 1 || !marks_.empty()) fail("the pickle is damaged");
    return stack_.back();
  }

 private:
  bool constant(char opcode) {
    switch (opcode) {
      case 'N':  // NONE
        return push(std::monostate());
      case '\x88':  // NEWTRUE
        return push(true);
      case '\x89':  // NEWFALSE
        return push(false);
      case 'K':  // BININT1
        return push(static_cast<std::int64_t>(take_number(1)));
      case 'M':  // BININT2
        return push(static_cast<std::int64_t>(take_number(2)));
      case 'J':  // BININT
        return push(take_signed(4));
      case '\x8a':  // LONG1
        return push(take_signed(take_number(1)));
      case 'G':  // BINFLOAT
        return push(take_big_endian_double());
      case 'X':  // BINUNICODE
        return push(std::string(take(take_number(4))));
      default:
        return false;
    }
  }

  bool container(char opcode) {
    switch (opcode) {
      case '(':  // MARK
        marks_.push_back(stack_.size());
        return true;
      case ')':  // EMPTY_TUPLE
        return push(Value::Tuple{});
      case '\x85':  // TUPLE1
      case '\x86':  // TUPLE2
      case '\x87':  // TUPLE3
        return push(Value::Tuple{pop_many(static_cast<std::size_t>(opcode - '\x85' + 1))});
      case 't':  // TUPLE
        return push(Value::Tuple{pop_to_mark()});
      case ']':  // EMPTY_LIST
        return push(Value::List{});
      case 'a':  // APPEND
        return append(pop_many(1));
      case 'e':  // APPENDS
        return append(pop_to_mark());
      case '}':  // EMPTY_DICT
        return push(Value::Dict{});
      case 's':  // SETITEM
        return set_items(pop_many(2));
      case 'u':  // SETITEMS
        return set_items(pop_to_mark());
      default:
        return false;
    }
  }

  bool memo(char opcode) {
    switch (opcode) {
      case 'q':  // BINPUT
        memo_[take_number(1)] = &top();
        return true;
      case 'r':  // LONG_BINPUT
        memo_[take_number(4)] = &top();
        return true;
      case 'h':  // BINGET
        return recall(take_number(1));
      case 'j':  // LONG_BINGET
        return recall(take_number(4));
      default:
        return false;
    }
  }

  bool call(char opcode) {
    switch (opcode) {
      case 'c':  // GLOBAL
        return push_global();
      case 'Q':  // BINPERSID
        return push(storage(pop<Value::Tuple>()));
      case 'R': {  // REDUCE
        const auto arguments = pop<Value::Tuple>();
        return reduce(pop<Value::Global>(), arguments);
      }
      case '\x81':  // NEWOBJ
        return new_object(pop<Value::Tuple>());
      case 'b':  // BUILD
        return set_attributes(pop<Value::Dict>());
      default:
        return false;
    }
  }

  std::string_view take(std::size_t size) {
    if (size > rest_.size()) fail("the pickle ends too early");
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::uint64_t take_number(std::size_t size) { return little_endian(take(size)); }

  // Two's complement, the lowest byte first.
  std::int64_t take_signed(std::size_t size) {
    if (size > 8) fail("an integer has more than 64 bits");
    if (size == 0) return 0;
    const auto unused_bits = static_cast<int>(64 - 8 * size);
    return static_cast<std::int64_t>(take_number(size) << unused_bits) >> unused_bits;
  }

  double take_big_endian_double() {
    const std::string_view bytes = take(8);
    const std::uint64_t bits = little_endian(std::string(bytes.rbegin(), bytes.rend()));
    double number = 0;
    std::memcpy(&number, &bits, sizeof number);
    return number;
  }

  std::string take_line() {
    const std::string line(take(std::min(rest_.find('\n'), rest_.size())));
    take(1);
    return line;
  }

  bool push_global() {
    const std::string module = take_line();
    const std::string member = take_line();
    const std::string name = module + " " + member;
    for (const auto& [known, global] : kGlobals) {
      if (name == known) return push(Value::Global(global));
    }
    const bool is_script = module.substr(0, module.find('.')) == kScriptNamespace;
    if (is_script && content_ == PickleContent::script_module) {
      return push(Value::Class{module + "." + member});
    }
    fail("it asks for Python's " + shown(name) + ", which a state dict does not need");
  }

  Value& top() {
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) fail("the pickle is damaged");
    return *stack_.back();
  }

  template <class Type>
  bool push(Type&& data) {
    values_.push_back(Value{std::forward<Type>(data)});
    stack_.push_back(&values_.back());
    return true;
  }

  // The data of a value that must have this type.
  template <class Type>
  const Type& part(const Value* value) const {
    const Type* data = value->as<Type>();
    if (data == nullptr) fail("a value has another type than a state dict has there");
    return *data;
  }

  template <class Type>
  Type pop() {
    Type data = part<Type>(&top());
    stack_.pop_back();
    return data;
  }

  std::vector<const Value*> pop_many(std::size_t count) {
    const std::size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() - floor < count) fail("the pickle is damaged");
    const auto first = stack_.end() - static_cast<std::ptrdiff_t>(count);
    const std::vector<const Value*> items(first, stack_.end());
    stack_.erase(first, stack_.end());
    return items;
  }

  std::vector<const Value*> pop_to_mark() {
    if (marks_.empty()) fail("the pickle is damaged");
    const auto items = pop_many(stack_.size() - marks_.back());
    marks_.pop_back();
    return items;
  }

  bool recall(std::uint64_t index) {
    const auto value = memo_.find(index);
    if (value == memo_.end()) fail("the pickle is damaged");
    stack_.push_back(value->second);
    return true;
  }

  bool append(const std::vector<const Value*>& items) {
    part<Value::List>(&top());
    auto& list = std::get<Value::List>(top().data).items;
    list.insert(list.end(), items.begin(), items.end());
    return true;
  }

  bool set_items(const std::vector<const Value*>& items) {
    part<Value::Dict>(&top());
    auto& dict = std::get<Value::Dict>(top().data).items;
    if (items.size() % 2 != 0) fail("the pickle is damaged");
    for (std::size_t i = 0; i < items.size(); i += 2) dict.emplace_back(items[i], items[i + 1]);
    return true;
  }

  void require_size(const Value::Tuple& tuple, std::size_t size) {
    if (tuple.items.size() != size) fail("a tuple has another length than a state dict has there");
  }

  // ("storage", class, key, location, element count); the location may be a GPU and is not needed.
  Value::Storage storage(const Value::Tuple& id) {
    require_size(id, 5);
    if (part<std::string>(id.items[0]) != "storage") fail("a persistent id is no storage");
    const auto type = part<Value::Global>(id.items[1]);
    if (type != Value::Global::kFloatStorage && type != Value::Global::kLongStorage) {
      fail("a storage has another class than FloatStorage and LongStorage");
    }
    return {type == Value::Global::kFloatStorage, part<std::string>(id.items[2]),
            part<std::int64_t>(id.items[4])};
  }

  bool new_object(const Value::Tuple& arguments) {
    require_size(arguments, 0);
    return push(Value::Object{pop<Value::Class>().name, {}});
  }

  bool set_attributes(Value::Dict attributes) {
    if (auto* object = std::get_if<Value::Object>(&top().data)) {
      object->attributes = std::move(attributes);
    } else {
      part<Value::Dict>(&top());  // attributes such as _metadata, of no use here
    }
    return true;
  }

  bool reduce(Value::Global function, const Value::Tuple& arguments) {
    if (function == Value::Global::kOrderedDict) {
      require_size(arguments, 0);
      return push(Value::Dict{});
    }
    if (function != Value::Global::kRebuildTensor) fail("a storage class is called");
    // storage, offset, shape, strides, requires_grad, backward hooks
    require_size(arguments, 6);
    return push(Value::Tensor{part<Value::Storage>(arguments.items[0]),
                              part<std::int64_t>(arguments.items[1]),
                              integers(part<Value::Tuple>(arguments.items[2])),
                              integers(part<Value::Tuple>(arguments.items[3]))});
  }

  std::vector<std::int64_t> integers(const Value::Tuple& tuple) {
    std::vector<std::int64_t> numbers;
    for (const Value* item : tuple.items) numbers.push_back(part<std::int64_t>(item));
    return numbers;
  }

  [[noreturn]] void fail(const std::string& reason) const {
    throw DataError(origin_ + ": " + reason);
  }

  std::string_view rest_;
  const std::string& origin_;
  PickleContent content_;
  std::deque<Value>& values_;
  std::vector<Value*> stack_;
  std::vector<std::size_t> marks_;  // sizes of the stack at each MARK that is open
  std::map<std::uint64_t, Value*> memo_;
};

}  // namespace

const PickleValue* PickleValue::Dict::find(std::string_view key) const {
  for (auto item = items.rbegin(); item != items.rend(); ++item) {
    const auto* name = item->first->as<std::string>();
    if (name != nullptr && *name == key) return item->second;
  }
  return nullptr;
}

Pickle::Pickle(std::string_view bytes, const std::string& origin, PickleContent content) {
  root_ = Unpickler(bytes, origin, content, values_).run();
}

}  // namespace pw
