#include "storage/tokenizer.hpp"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agw {

void PrintTo(const IndexedWord& word, std::ostream* out) { *out << word.word << " " << word.begin << "-" << word.end; }
bool operator==(const IndexedWord& a, const IndexedWord& b) {
  return a.word == b.word && a.begin == b.begin && a.end == b.end;
}

namespace {

using ::testing::ElementsAre;

class TokenizerTest : public ::testing::Test {
protected:
  /// The words of the text as SQLite's tokenizer finds them: a sign that is not ASCII follows them.
  std::vector<IndexedWord> words_with_sqlite(const std::string& text) const {
    return tokenizer_.tokens(text + " \u00bb");
  }

  Connection connection_{":memory:", Connection::Access::read_write};
  Tokenizer tokenizer_{connection_};
};

TEST_F(TokenizerTest, FoldsWords) {
  EXPECT_THAT(tokenizer_.tokens("Read-me, 2nd_Part"),
              ElementsAre(IndexedWord{"read", 0, 4}, IndexedWord{"me", 5, 7}, IndexedWord{"2nd", 9, 12},
                          IndexedWord{"part", 13, 17}));
  EXPECT_THAT(tokenizer_.tokens("Crème"), ElementsAre(IndexedWord{"creme", 0, 6}));
  EXPECT_THAT(tokenizer_.tokens(""), ElementsAre());
}

TEST_F(TokenizerTest, SplitsAsciiTextsAsSqliteDoes) {
  std::string each_character;
  for (char c = 0; c < 127; ++c) each_character += std::string{'a', c, 'B', ' ', c, ' '};
  EXPECT_EQ(tokenizer_.tokens(each_character), words_with_sqlite(each_character));

  std::mt19937 random;
  for (int i = 0; i < 1000; ++i) {
    std::string text(random() % 40, ' ');
    for (char& c : text) c = static_cast<char>(random() % 128);
    EXPECT_EQ(tokenizer_.tokens(text), words_with_sqlite(text));
  }
}

TEST_F(TokenizerTest, PassesOnTheSameWords) {
  for (const std::string text : {"One, two; THREE", "Zwölf Otter\u00bb", "Python入門 3"}) {
    std::vector<std::string> words;
    tokenizer_.for_each_word(text, [&](std::string_view word) { words.emplace_back(word); });
    std::vector<std::string> expected;
    for (const auto& word : tokenizer_.tokens(text)) expected.push_back(word.word);
    EXPECT_EQ(words, expected);
  }
}

TEST_F(TokenizerTest, StemsEnglishWords) {
  const Tokenizer stemming(connection_, Tokenizer::Words::stemmed);
  EXPECT_THAT(stemming.tokens("Running otters"), ElementsAre(IndexedWord{"run", 0, 7}, IndexedWord{"otter", 8, 14}));
}

}  // namespace
}  // namespace agw
