#include "features/apps/file_part.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

/// `status first+count` for a file of `size` bytes.
std::string part(std::optional<std::string_view> range, std::uint64_t size = 10) {
  const auto part = requested_part(range, size);
  return std::to_string(part.status) + " " + std::to_string(part.first) + "+" + std::to_string(part.count);
}

TEST(FilePart, IsTheWholeFileWithoutARange) { EXPECT_EQ(part(std::nullopt), "200 0+10"); }

TEST(FilePart, IsWhatARangeNames) {
  EXPECT_EQ(part("bytes=0-0"), "206 0+1");
  EXPECT_EQ(part("bytes=2-5"), "206 2+4");
  EXPECT_EQ(part("Bytes=7-"), "206 7+3");
  EXPECT_EQ(part("bytes=-3"), "206 7+3");
  EXPECT_EQ(part(" bytes=0- "), "206 0+10");
}

TEST(FilePart, EndsWithTheFile) {
  EXPECT_EQ(part("bytes=9-1000"), "206 9+1");
  EXPECT_EQ(part("bytes=-1000"), "206 0+10");
  EXPECT_EQ(part("bytes=3-99999999999999999999999"), "206 3+7");
}

TEST(FilePart, IsNonePastTheEnd) {
  EXPECT_EQ(part("bytes=10-"), "416 0+0");
  EXPECT_EQ(part("bytes=99999999999999999999999-"), "416 0+0");
  EXPECT_EQ(part("bytes=-0"), "416 0+0");
  EXPECT_EQ(part("bytes=0-", 0), "416 0+0");
  EXPECT_EQ(part("bytes=-5", 0), "416 0+0");
}

TEST(FilePart, IsTheWholeFileForARangeThatCannotBeRead) {
  for (const auto* range : {"", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=5-2", "bytes=1-2,4-5", "bytes=+1-2",
                            "bytes=1--2", "bytes= 1-2", "bytes=0x1-", "lines=1-2", "=1-2", "1-2"}) {
    EXPECT_EQ(part(range), "200 0+10") << range;
  }
}

}  // namespace
}  // namespace agw
