#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace pw {

// The members of a ZIP archive that are stored without compression: all of those that torch.save
// writes; of a TorchScript archive all but most of the code, which text() decompresses.
// Keeps its own copy of the bytes; members are views into it. Reads sizes from the central
// directory, because local headers leave them zero (spec of .pth files: data descriptors).
class ZipArchive {
 public:
  // `origin` names the file in messages. Throws DataError when it is no complete ZIP archive: no
  // end record, a member outside the file or twice.
  ZipArchive(std::string bytes, const std::string& origin);
  ZipArchive(const ZipArchive&) = delete;  // the members would be views into the other one
  ZipArchive& operator=(const ZipArchive&) = delete;

  // Name -> content, names as stored ("attn_mlp_model/data.pkl"), sorted.
  const std::map<std::string, std::string_view>& members() const { return members_; }
  // The member whose name is `<top folder>/<suffix>`; throws DataError when there is none.
  std::string_view member(std::string_view suffix) const;
  bool has(std::string_view suffix) const;
  // A member's content whether compressed or not; nothing when there is none of this name. Throws
  // DataError when it is damaged or compressed in another way than Deflate.
  std::optional<std::string> text(std::string_view suffix) const;
  // False when a member's CRC-32 differs from the recorded one (members recorded as 0 pass).
  bool crc_matches(const std::string& name) const;

 private:
  struct Compressed {
    std::string_view bytes;
    std::size_t method = 0;
    std::size_t size = 0;  // decompressed
  };

  std::string bytes_;
  std::string origin_;
  std::map<std::string, std::string_view> members_;
  std::map<std::string, Compressed> compressed_;
  std::map<std::string, std::uint32_t> crcs_;
};

}  // namespace pw
