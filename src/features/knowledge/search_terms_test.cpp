#include "features/knowledge/search_terms.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

std::vector<std::string> queries(std::string_view question) {
  std::vector<std::string> queries;
  for (const auto& term : search_terms(question)) queries.push_back(term.query);
  return queries;
}

using List = std::vector<std::string>;

TEST(SearchTerms, AreTheMeaningfulWords) {
  EXPECT_EQ(queries("How do I undo the last commit?"), (List{"\"undo\"", "\"last\"", "\"commit\""}));
}

TEST(SearchTerms, OfCommonWordsOnlyAreTheseWords) { EXPECT_EQ(queries("To be"), (List{"\"to\"", "\"be\""})); }

TEST(SearchTerms, OfACompoundAreTheWholeAndItsParts) {
  EXPECT_EQ(queries("core.autocrlf"), (List{"\"core autocrlf\"", "\"core\"", "\"autocrlf\""}));
}

TEST(SearchTerms, OfScriptsWithoutBlanksAreThePartsBetweenPunctuation) {
  EXPECT_EQ(queries("東京、大阪？"), (List{"\"東京 大阪\"", "\"東京\"", "\"大阪\""}));
  EXPECT_EQ(queries("Python入門"), (List{"\"python 入門\"", "\"python\"", "\"入門\""}));
  EXPECT_EQ(search_terms("東京").at(0).part, "東京");
  EXPECT_EQ(search_terms("\"東京\"").at(0).part, "東京");
  EXPECT_EQ(search_terms("word").at(0).part, "");
}

TEST(SearchTerms, AreLookedForWithinWordsEightAtMost) {
  const auto terms = search_terms("一 二 三 四 五 六 七 八 九 十");
  ASSERT_EQ(terms.size(), 10u);
  EXPECT_EQ(terms[7].part, "八");
  EXPECT_EQ(terms[8].part, "");
}

TEST(SearchTerms, AreLongWordsToo) {
  const std::string word(70, 'a');
  EXPECT_EQ(queries(word), (List{"\"" + word + "\""}));
}

TEST(SearchTerms, SupportPhrasesAndPrefixes) {
  EXPECT_EQ(queries("\"the red barn\" deplo*"), (List{"\"the red barn\"", "\"deplo\" *"}));
  EXPECT_EQ(queries("\"open"), (List{"\"open\""}));
}

TEST(SearchTerms, QuoteOrRemoveAllInput) {
  for (const std::string typed : {"NOT (a OR b)", "title:x^2", "\"\"\"", "a\"b\"c", "-x +y {z}", "'; DROP"}) {
    for (const auto& query : queries(typed)) {
      EXPECT_TRUE(query.starts_with('"')) << query;
      EXPECT_EQ(query.find_first_of("():^{}';"), std::string::npos) << query;
    }
  }
  EXPECT_TRUE(search_terms("?!").empty());
}

TEST(SearchTerms, AreBounded) {
  std::string many;
  for (int i = 0; i < 1000; ++i) many += " w" + std::to_string(i);
  EXPECT_EQ(search_terms(many).size(), max_search_terms);
}

}  // namespace
}  // namespace agw
