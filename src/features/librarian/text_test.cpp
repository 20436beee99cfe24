#include "features/librarian/text.hpp"

#include <gtest/gtest.h>

#include "base/json/json.hpp"

namespace agw {
namespace {

TEST(LibrarianText, GoesOnOneLine) {
  EXPECT_EQ(on_one_line(" a\n\n b ", 10), "a b");
  EXPECT_EQ(on_one_line("abc def", 4), "abc…");
}

TEST(LibrarianText, GivesItsFirstSentence) {
  EXPECT_EQ(first_sentence("Version 1.2 is out. It is good.", 100), "Version 1.2 is out.");
  EXPECT_EQ(first_sentence("\n\nfirst line\nsecond", 100), "first line");
  EXPECT_EQ(first_sentence("", 100), "");
}

TEST(LibrarianText, FallsIntoPiecesThatAreTheText) {
  std::string text = "A few words, and then a long one: ";
  for (int i = 0; i < 100; ++i) text += "ü€";
  text += " end.\n";
  std::string_view rest = text;
  int pieces = 0;
  while (!rest.empty()) {
    const auto piece = next_piece(rest);
    ASSERT_FALSE(piece.empty());
    EXPECT_TRUE(is_utf8(piece));
    rest.remove_prefix(piece.size());
    ++pieces;
  }
  EXPECT_GT(pieces, 8);
  EXPECT_EQ(next_piece("The lighthouse of Quendelby was painted green"), "The lighthouse of Quendelby was painted ");
}

TEST(LibrarianText, CountsFourCharactersForAToken) {
  EXPECT_EQ(token_estimate(""), 0);
  EXPECT_EQ(token_estimate("üüüü"), 1);
  EXPECT_EQ(token_estimate("abcde"), 2);
}

}  // namespace
}  // namespace agw
