#include "storage/word_vector.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

TEST(WordVectorTest, HasEachWordOnce) {
  WordVector words;
  for (const auto* word : {"a", "b", "a"}) words.add(word);
  EXPECT_EQ(words.text(), "'a' 'b' ");
}

TEST(WordVectorTest, HasWordsWithTheirPlaces) {
  WordVector words;
  words.add_field({"new", "plan"}, 'A');
  words.add_field({"plan"}, 'D');
  EXPECT_EQ(words.text(), "'new':1A 'plan':2A,4D ");
}

TEST(WordVectorTest, QuotesWhatIsSyntax) {
  WordVector words;
  words.add(R"(it's\)");
  EXPECT_EQ(words.text(), R"('it''s\\' )");
  EXPECT_EQ(word_query("it's", true), "'it''s':*");
}

TEST(WordVectorTest, FindsPartsOfWordsByTheirPairsOfLetters) {
  WordVector words;
  words.add("東京都");
  EXPECT_EQ(words.text(), "'東京都' '=東京' '=京都' '=都' ");
  EXPECT_EQ(part_query("東京都"), "('=東京' & '=京都')");
  EXPECT_EQ(part_query("都"), "('=都':*)");
}

TEST(WordVectorTest, CutsLongWordsInDocumentsAndInQueries) {
  const std::string word(1000, 'x');
  WordVector words;
  words.add(word);
  EXPECT_EQ(words.text(), word_query(word, false) + ' ');
  EXPECT_LT(words.text().size(), 300);
}

TEST(WordVectorTest, MarksADocumentWithMoreWordsThanFit) {
  WordVector words;
  for (int number = 0; number < 200'000; ++number) words.add(std::to_string(1'000'000 + number));
  EXPECT_TRUE(words.is_cut());
  EXPECT_TRUE(words.text().starts_with(std::string(long_query()) + ' '));
}

TEST(WordVectorTest, APhraseIsFoundInLongDocumentsByItsWords) {
  EXPECT_EQ(phrase_query({"new", "plan"}, true), "(('new' <-> 'plan':*) | ('new' & 'plan':* & '='))");
}

}  // namespace
}  // namespace agw
