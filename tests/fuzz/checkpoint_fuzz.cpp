// ZIP archives: their directory, our checkpoints and the original's state dicts up to the pickle.
#include "checkpoint_archive.h"
#include "fuzz_input.h"
#include "io/state_dict.h"
#include "pw/checkpoint.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pw;
  static const fuzz::InputFile input("model.pt");
  const std::string bytes(fuzz::as_text(data, size));
  fuzz::takes([&] {
    const ZipArchive archive(bytes, "model.pt");
    for (const auto& member : archive.members()) {
      const std::string& name = member.first;
      archive.crc_matches(name);
      fuzz::takes([&] { archive.member(name.substr(name.find('/') + 1)); });
    }
    fuzz::takes([&] { archive.text("code/model.py"); });
    archive_checksum(archive);
  });
  const auto& path = input.write(bytes);
  fuzz::takes([&] { read_checkpoint_record(path); });
  fuzz::takes([&] { read_state_dict(path); });
  return 0;
}
