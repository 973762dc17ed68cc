#include "io/zip_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error_of.h"
#include "support/zip_writer.h"

namespace pw {
namespace {

const std::vector<ZipMember> kMembers = {
    {"top/data.pkl", "123456789"}, {"top/data/0", std::string("a\0b", 3)}, {"top/data/1", ""}};

TEST(ZipArchive, FindsMembersWhateverTheTopFolderIs) {
  const ZipArchive archive(write_zip(kMembers), "f");
  EXPECT_EQ(archive.members().size(), 3u);
  EXPECT_EQ(archive.member("data.pkl"), "123456789");
  EXPECT_EQ(archive.member("data/0"), std::string("a\0b", 3));
  EXPECT_EQ(archive.member("data/1"), "");
  EXPECT_TRUE(archive.has("data/1"));
  EXPECT_FALSE(archive.has("data"));
  EXPECT_FALSE(archive.has("0"));
  EXPECT_FALSE(archive.has("top/data.pkl"));
  EXPECT_EQ(error_of([&] { archive.member("data/2"); }),
            "f: no member data/2 stored without compression");
}

TEST(ZipArchive, ChecksTheCrc) {
  ASSERT_EQ(slow_crc32("123456789"), 0xCBF43926u);  // the check value of the CRC catalogue
  auto members = kMembers;
  members[1].crc_change = 1;
  members.push_back({"top/none", "x", 0, 0, slow_crc32("x")});  // recorded as 0
  const ZipArchive archive(write_zip(members), "f");
  EXPECT_TRUE(archive.crc_matches("top/data.pkl"));
  EXPECT_FALSE(archive.crc_matches("top/data/0"));
  EXPECT_TRUE(archive.crc_matches("top/data/1"));
  EXPECT_TRUE(archive.crc_matches("top/none"));
}

TEST(ZipArchive, LeavesCompressedMembersOut) {
  auto members = kMembers;
  members[1].method = 8;
  const ZipArchive archive(write_zip(members), "f");
  EXPECT_EQ(archive.members().size(), 2u);
  EXPECT_FALSE(archive.has("data/0"));
}

// "hello hello hello hello" by zlib's raw Deflate.
const std::string kDeflated = "\xcb\x48\xcd\xc9\xc9\x57\xc8\x40\x27\x01";

TEST(ZipArchive, GivesTheTextOfMembersStoredOrNot) {
  auto members = kMembers;
  members.push_back({"top/code.py", kDeflated, 8, 0, 0, 23});
  const ZipArchive archive(write_zip(members), "f");
  EXPECT_EQ(archive.text("code.py"), "hello hello hello hello");
  EXPECT_EQ(archive.text("data.pkl"), "123456789");
  EXPECT_EQ(archive.text("absent.py"), std::nullopt);
}

TEST(ZipArchive, RefusesTextThatCannotBeDecompressed) {
  const ZipMember bad[] = {{"top/code.py", kDeflated, 8, 0, 0, 22},        // too small
                           {"top/code.py", kDeflated, 8, 0, 0, 24},        // too large
                           {"top/code.py", kDeflated, 8, 0, 0, 3u << 30},  // beyond any Deflate
                           {"top/code.py", kDeflated, 12, 0, 0, 23},       // bzip2
                           {"top/code.py", kDeflated.substr(0, 5), 8, 0, 0, 23},
                           {"top/code.py", "no Deflate", 8, 0, 0, 23}};
  for (const ZipMember& member : bad) {
    const ZipArchive archive(write_zip({member}), "f");
    EXPECT_EQ(error_of([&] { archive.text("code.py"); }),
              "f: member code.py cannot be decompressed; copy or save the file again");
  }
}

TEST(ZipArchive, AcceptsACommentBehindTheEnd) {
  EXPECT_TRUE(
      ZipArchive(write_zip(kMembers, "a PK\5\6 comment of some length"), "f").has("data/0"));
  EXPECT_TRUE(ZipArchive(write_zip({}), "f").members().empty());
}

TEST(ZipArchive, RefusesEveryCutFile) {
  const std::string whole = write_zip(kMembers);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(error_of([&] { ZipArchive(whole.substr(0, size), "f"); }),
              "f: not a complete ZIP archive (" + std::to_string(size) +
                  " bytes); copy or save the file again");
  }
  EXPECT_THAT(error_of([&] { ZipArchive(whole.substr(1), "f"); }),
              testing::HasSubstr("not a complete ZIP archive"));
}

TEST(ZipArchive, RefusesFalseDirectories) {
  auto members = kMembers;
  members[0].extra_size = 100000;
  EXPECT_THAT(error_of([&] { ZipArchive(write_zip(members), "f"); }),
              testing::HasSubstr("not a complete ZIP archive"));
  members = kMembers;
  members[1].name = members[0].name;
  EXPECT_EQ(error_of([&] { ZipArchive(write_zip(members), "f"); }),
            "f: member top/data.pkl occurs twice");
}

}  // namespace
}  // namespace pw
