#include <gtest/gtest.h>

#include "features/threads/types.hpp"

namespace agw {
namespace {

TEST(Title, IsAShortTurnWhole) { EXPECT_EQ(title_from("How do I bake bread?"), "How do I bake bread?"); }

TEST(Title, IsTheFirstWordsOfALongTurn) {
  EXPECT_EQ(title_from("one two three four five six seven eight nine"), "one two three four five six seven eight…");
  EXPECT_EQ(title_from("a considerably extraordinary formulation of an internationalisation"),
            "a considerably extraordinary formulation of an…");
}

TEST(Title, StandsOnOneLineWithoutMarks) {
  EXPECT_EQ(title_from("\n  ## Plan\n\n- one\t\ttwo"), "Plan - one two");
  EXPECT_EQ(title_from("> > quoted"), "quoted");
}

TEST(Title, CutsAVeryLongWordBetweenCharacters) {
  std::string word;
  for (int i = 0; i < 50; ++i) word += "€";
  EXPECT_EQ(title_from(word), word.substr(0, 60) + "…");
}

TEST(Title, IsEmptyWithoutWords) {
  EXPECT_EQ(title_from(""), "");
  EXPECT_EQ(title_from(" \n\t"), "");
  EXPECT_EQ(title_from("---"), "");
}

}  // namespace
}  // namespace agw
