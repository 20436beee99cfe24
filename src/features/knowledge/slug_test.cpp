#include <gtest/gtest.h>

#include "features/knowledge/files.hpp"

namespace agw {
namespace {

TEST(Slug, IsTheNameInKebabCase) {
  EXPECT_EQ(slug_of("Deploy Notes (v2)"), "deploy-notes-v2");
  EXPECT_EQ(slug_of("deployNotes_2026"), "deploy-notes-2026");
  EXPECT_EQ(slug_of("HTTPServer"), "http-server");
  EXPECT_EQ(slug_of("Bob's list"), "bobs-list");
  EXPECT_EQ(slug_of("already-kebab"), "already-kebab");
}

TEST(Slug, KeepsLettersBeyondAscii) {
  EXPECT_EQ(slug_of("Küche – Löffel"), "küche-löffel");
  EXPECT_EQ(slug_of("C d É"), "c-d-é");
  EXPECT_EQ(slug_of("«Ёлка» № 5…"), "ёлка-№-5");
  EXPECT_EQ(slug_of("設定、手順 メモ"), "設定-手順-メモ");
}

TEST(Slug, CannotLeaveADirectoryAndIsNeverEmpty) {
  EXPECT_EQ(slug_of("../../etc/passwd"), "etc-passwd");
  EXPECT_EQ(slug_of("..."), "page");
  EXPECT_EQ(slug_of(""), "page");
  EXPECT_EQ(slug_of(std::string_view("a\0b\n", 4)), "a-b");
}

TEST(Slug, IsCutBetweenCharacters) {
  std::string name(99, 'a');
  EXPECT_EQ(slug_of(name + "é").size(), 99u);
  EXPECT_EQ(slug_of(std::string(500, 'a')).size(), 100u);
}

}  // namespace
}  // namespace agw
