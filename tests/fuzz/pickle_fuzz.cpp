// Pickles alone, of both contents, and as the data.pkl of an archive with two storages.
#include "fuzz_input.h"
#include "io/pickle.h"
#include "io/state_dict.h"
#include "support/zip_writer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pw;
  static const fuzz::InputFile input("model.pth");
  const std::string pickle(fuzz::as_text(data, size));
  fuzz::takes([&] { Pickle(pickle, "data.pkl", PickleContent::script_module); });
  if (!fuzz::takes([&] { Pickle(pickle, "data.pkl"); })) return 0;
  const std::string archive = write_zip({{"m/data.pkl", pickle},
                                         {"m/data/0", std::string(24, '\x3f')},
                                         {"m/data/1", std::string(8, '\1')}});
  fuzz::takes([&] {
    for (const auto& [name, tensor] : read_state_dict(input.write(archive)).tensors) {
      std::int64_t elements = 1;
      for (const std::int64_t each : tensor.shape) elements *= each;
      fuzz::require(elements == static_cast<std::int64_t>(tensor.values.size()),
                    "a tensor has the elements of its shape");
    }
  });
  return 0;
}
