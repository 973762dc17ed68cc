#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/pickle.h"
#include "io/zip_archive.h"

namespace pw {

// A tensor of a PyTorch checkpoint, row-major. Integer tensors (num_batches_tracked) hold their
// values as doubles too.
struct StateTensor {
  std::vector<std::int64_t> shape;  // empty for a scalar
  std::vector<double> values;
};

// The elements of a tensor of the pickle from the archive's member that stores them. `where` names
// the tensor in messages. Throws DataError when its shape and its bytes do not fit, when it is not
// stored row by row, and for a value that is not finite.
StateTensor read_tensor(const PickleValue::Tensor& tensor, const ZipArchive& archive,
                        const std::string& where);

}  // namespace pw
