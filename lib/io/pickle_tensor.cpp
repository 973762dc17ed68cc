#include "io/pickle_tensor.h"

#include <cmath>
#include <cstring>

#include "io/little_endian.h"
#include "pw/fields.h"

namespace pw {
namespace {

// Elements of a tensor, at most those that its storage has left behind the offset.
std::int64_t count_elements(const PickleValue::Tensor& tensor, const std::string& where) {
  const std::int64_t most = tensor.storage.elements - tensor.offset;
  std::int64_t count = 1;
  bool fits = tensor.offset >= 0 && most >= 0;
  for (const std::int64_t size : tensor.shape) {
    fits = fits && size > 0 && count <= most / size;
    if (fits) count *= size;
  }
  if (!fits || count > most) throw DataError(where + " has a shape that its storage cannot hold");
  return count;
}

void require_row_major(const PickleValue::Tensor& tensor, const std::string& where) {
  bool row_major = tensor.strides.size() == tensor.shape.size();
  std::int64_t stride = 1;
  for (std::size_t i = tensor.shape.size(); row_major && i-- > 0;) {
    // The stride of a dimension with one element is never used.
    row_major = tensor.shape[i] == 1 || tensor.strides[i] == stride;
    stride *= tensor.shape[i];
  }
  if (!row_major) throw DataError(where + " is not stored row by row");
}

double read_element(std::string_view bytes, bool is_float) {
  const std::uint64_t bits = little_endian(bytes);
  if (!is_float) return static_cast<double>(static_cast<std::int64_t>(bits));
  const auto low = static_cast<std::uint32_t>(bits);
  float value = 0;
  std::memcpy(&value, &low, sizeof value);
  return value;
}

}  // namespace

StateTensor read_tensor(const PickleValue::Tensor& tensor, const ZipArchive& archive,
                        const std::string& where) {
  const bool is_float = tensor.storage.is_float;
  const std::size_t element_bytes = is_float ? sizeof(float) : sizeof(std::int64_t);
  const std::string_view bytes = archive.member("data/" + tensor.storage.key);
  if (bytes.size() % element_bytes != 0 ||
      bytes.size() / element_bytes != static_cast<std::uint64_t>(tensor.storage.elements)) {
    throw DataError(where + " has " + std::to_string(bytes.size()) + " bytes in the archive, not " +
                    std::to_string(tensor.storage.elements) + " elements");
  }
  const auto count = static_cast<std::size_t>(count_elements(tensor, where));
  require_row_major(tensor, where);
  StateTensor result{tensor.shape, {}};
  result.values.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = (static_cast<std::size_t>(tensor.offset) + i) * element_bytes;
    result.values.push_back(read_element(bytes.substr(at, element_bytes), is_float));
    if (!std::isfinite(result.values.back())) {
      throw DataError(where + " holds a value that is not finite");
    }
  }
  return result;
}

}  // namespace pw
