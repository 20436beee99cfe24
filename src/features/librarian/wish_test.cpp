#include "features/librarian/wish.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

using Kind = Wish::Kind;

TEST(Wish, IsToSearchWhereThereAreWords) {
  for (const auto* message :
       {"What did I say about the deploy?", "deploy", "Do you remember the code?", "Remember when we deployed?",
        "Where is the summary of the quarter?", "noted colours", "/search deploy", "repeat"}) {
    EXPECT_EQ(read_wish(message).kind, Kind::search) << message;
  }
}

TEST(Wish, IsAnExplanationWhereThereAreNone) {
  for (const auto* message : {"", "Hello!", "/help", "What can you do?", "thanks"}) {
    EXPECT_EQ(read_wish(message).kind, Kind::explanation) << message;
  }
}

TEST(Wish, IsAnExplanationForACommandWithoutWords) {
  for (const char* message : {"/plan", " /act ", "/proposals\n"}) {
    EXPECT_EQ(read_wish(message, true).kind, Wish::Kind::explanation) << message;
    EXPECT_EQ(read_wish(message).kind, Wish::Kind::search) << message;
  }
  for (const char* message : {"/plan a trip", "/etc/hosts", "/notes.md"}) {
    EXPECT_EQ(read_wish(message, true).kind, Wish::Kind::search) << message;
  }
}

TEST(Wish, IsASummary) {
  for (const auto* message : {"Summarise this thread", "Please give me a short summary of our conversation so far",
                              "tl;dr", "Can you summarize?", "Recap what we talked about"}) {
    EXPECT_EQ(read_wish(message).kind, Kind::summary) << message;
  }
}

TEST(Wish, IsToKeepANote) {
  for (const auto* message : {"Remember that the door code is 4711", "please remember: the door code is 4711",
                              "/remember the door code is 4711", "Keep in mind the door code is 4711"}) {
    const auto wish = read_wish(message);
    EXPECT_EQ(wish.kind, Kind::note) << message;
    EXPECT_EQ(wish.text, "the door code is 4711") << message;
  }
}

TEST(Wish, IsToHearATextAgain) {
  for (const auto* message : {"repeat  two\n words ", "Repeat after me: two\n words ", "echo two\n words "}) {
    const auto wish = read_wish(message);
    EXPECT_EQ(wish.kind, Kind::echo) << message;
    EXPECT_EQ(wish.text, "two\n words ") << message;
  }
}

}  // namespace
}  // namespace agw
