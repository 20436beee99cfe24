#include "features/librarian/search_words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agw {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(SearchWords, LeavesOutWhatEveryQuestionHas) {
  EXPECT_THAT(search_words("What did I say about the deploy?"), ElementsAre("deploy"));
  EXPECT_THAT(search_words("Do you remember when Anna's password expires, please?"),
              ElementsAre("anna", "password", "expires"));
}

TEST(SearchWords, AreNoneInGreetings) {
  for (const auto* message : {"", "Hello!", "Hi there", "What can you do?", "I don’t know…", "?!", "\"\"", "/help"}) {
    EXPECT_THAT(search_words(message), IsEmpty()) << message;
  }
}

TEST(SearchWords, KeepQuotedPhrasesWhole) {
  EXPECT_THAT(search_words("who said \"Blue Green\" deploys"), ElementsAre("blue green", "deploys"));
  EXPECT_THAT(search_words("who said “the end”?"), ElementsAre("the end"));
  EXPECT_THAT(search_words("an open \"mark here"), ElementsAre("open", "mark"));
}

TEST(SearchWords, KeepNamesAndOtherLanguages) {
  EXPECT_THAT(search_words("Where is config.yaml? (Zürich)"), ElementsAre("config.yaml", "zürich"));
}

TEST(SearchWords, AreOnceEachAndBounded) {
  EXPECT_THAT(search_words("deploy, DEPLOY and deploy"), ElementsAre("deploy"));
  std::string pasted;
  for (int i = 0; i < 10'000; ++i) pasted += "word" + std::to_string(i) + " ";
  EXPECT_THAT(search_words(pasted), SizeIs(max_search_words));
}

TEST(SearchQuery, FindsOtherFormsOfAWord) {
  EXPECT_EQ(search_query({"deploys", "policies", "rotation"}, Match::all), "deploy* polic* rotation*");
  EXPECT_EQ(search_query({"deploys", "dog"}, Match::any), "deploys OR deploy* OR dog");
}

TEST(SearchQuery, QuotesWhatIsNotAPlainWord) {
  EXPECT_EQ(search_query({"config.yaml", "blue green", "zürich"}, Match::all),
            "\"config.yaml\" \"blue green\" zürich*");
}

TEST(Matches, ComparesWordsNotPartsOfThem) {
  EXPECT_TRUE(matches("We Deployed on Friday.", {"deploys"}, Match::all));
  EXPECT_FALSE(matches("redeploy", {"deploy"}, Match::all));
  EXPECT_TRUE(matches("my dog", {"dog"}, Match::all));
  EXPECT_FALSE(matches("my dogma", {"dog"}, Match::all));
  EXPECT_FALSE(matches("my dog", {"dog", "cat"}, Match::all));
  EXPECT_TRUE(matches("my dog", {"dog", "cat"}, Match::any));
}

TEST(OnlyAsksFor, TellsQuestionsFromAnswers) {
  EXPECT_TRUE(only_asks_for("When is the deploy?", {"deploys"}));
  EXPECT_TRUE(only_asks_for("what about deploys", {"deploy"}));
  EXPECT_FALSE(only_asks_for("Is the deploy on Friday?", {"deploy"}));
  EXPECT_FALSE(only_asks_for("Deploys rotate.", {"deploy", "rotation"}));
}

}  // namespace
}  // namespace agw
