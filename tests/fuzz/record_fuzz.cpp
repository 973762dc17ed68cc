// Records of checkpoints; one that is taken stays the same when it is written and read.
#include "fuzz_input.h"
#include "pw/model_record.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pw;
  const std::string text(fuzz::as_text(data, size));
  fuzz::takes([&] {
    const ModelRecord record = parse_record(text, "record.json");
    fuzz::takes([&] { feature_columns(record, "record.json"); });
    const std::string once = record_json(record);
    std::string twice;
    fuzz::require(fuzz::takes([&] { twice = record_json(parse_record(once, "record.json")); }),
                  "a written record can be read");
    fuzz::require(once == twice, "a record stays when it is written and read");
  });
  return 0;
}
