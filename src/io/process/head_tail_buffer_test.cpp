#include "io/process/head_tail_buffer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agw {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string excerpt_of(std::initializer_list<std::string_view> pieces, std::size_t limit) {
  HeadTailBuffer excerpt(limit);
  for (const auto piece : pieces) excerpt.add(piece);
  return excerpt.text();
}

TEST(HeadTailBuffer, KeepsWhatFits) {
  EXPECT_EQ(excerpt_of({}, 10), "");
  EXPECT_EQ(excerpt_of({"01234", "56789"}, 10), "0123456789");
  EXPECT_EQ(excerpt_of({"é", "éééééééé", "é"}, 10), "éééééééééé") << "ten characters, twenty bytes";
}

TEST(HeadTailBuffer, CutsTheMiddle) {
  EXPECT_EQ(excerpt_of({"0123456789A"}, 10), "01234\n[… 1 characters cut …]\n6789A");
  EXPECT_EQ(excerpt_of({"éééééxxééééé"}, 10), "ééééé\n[… 2 characters cut …]\nééééé");
}

TEST(HeadTailBuffer, StaysSmallHoweverMuchComes) {
  HeadTailBuffer excerpt(100);
  excerpt.add("first ");
  const std::string piece(65536, 'y');
  for (int i = 0; i < 1000; ++i) excerpt.add(piece);
  excerpt.add(" last");
  const auto text = excerpt.text();
  EXPECT_LT(text.size(), 200u);
  EXPECT_THAT(text, StartsWith("first yyy"));
  EXPECT_THAT(text, HasSubstr("\n[… 65535911 bytes cut …]\n"));
  EXPECT_THAT(text, EndsWith("yyy last"));
}

TEST(HeadTailBuffer, BytesThatBeginNoCharacterFillNoMemory) {
  HeadTailBuffer excerpt(100);
  const std::string piece(65536, '\x80');
  for (int i = 0; i < 100; ++i) excerpt.add(piece);
  EXPECT_LT(excerpt.text().size(), 1000u);
}

}  // namespace
}  // namespace agw
