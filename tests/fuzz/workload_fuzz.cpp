// Workload files; one that is taken stays the same when it is written and read.
#include "fuzz_input.h"
#include "pw/workload.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pw;
  static const fuzz::InputFile input("workload.json");
  const auto again = [&](std::string_view text) {
    return workload_json(read_workload(input.write(text)), false);
  };
  fuzz::takes([&] {
    const std::string once = again(fuzz::as_text(data, size));
    std::string twice;
    fuzz::require(fuzz::takes([&] { twice = again(once); }), "a written workload can be read");
    fuzz::require(once == twice, "a workload stays when it is written and read");
  });
  return 0;
}
