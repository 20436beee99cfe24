#include "features/librarian/intent.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

using Kind = Intent::Kind;

TEST(Intent, IsToSearchWhereThereAreWords) {
  for (const auto* message :
       {"What did I say about the deploy?", "deploy", "Do you remember the code?", "Remember when we deployed?",
        "Where is the summary of the quarter?", "What can you do about the deploy?", "without a model", "models",
        "noted colours", "/search deploy", "repeat"}) {
    EXPECT_EQ(read_intent(message).kind, Kind::search) << message;
  }
}

TEST(Intent, IsAnExplanationWhereThereAreNone) {
  for (const auto* message :
       {"", "Hello!", "/help", "What can you do?", "thanks", "What can you do without a model?", "hi, who are you?",
        "How does this work?", "Good morning! What can I do here, offline?"}) {
    EXPECT_EQ(read_intent(message).kind, Kind::explanation) << message;
  }
}

TEST(Intent, IsAnExplanationForACommandWithoutWords) {
  for (const char* message : {"/plan", " /act ", "/proposals\n"}) {
    EXPECT_EQ(read_intent(message, true).kind, Intent::Kind::explanation) << message;
    EXPECT_EQ(read_intent(message).kind, Intent::Kind::search) << message;
  }
  for (const char* message : {"/plan a trip", "/etc/hosts", "/notes.md"}) {
    EXPECT_EQ(read_intent(message, true).kind, Intent::Kind::search) << message;
  }
}

TEST(Intent, IsASummary) {
  for (const auto* message : {"Summarise this thread", "Please give me a short summary of our conversation so far",
                              "tl;dr", "Can you summarize?", "Recap what we talked about"}) {
    EXPECT_EQ(read_intent(message).kind, Kind::summary) << message;
  }
}

TEST(Intent, IsToKeepANote) {
  for (const auto* message : {"Remember that the door code is 4711", "please remember: the door code is 4711",
                              "/remember the door code is 4711", "Keep in mind the door code is 4711"}) {
    const auto intent = read_intent(message);
    EXPECT_EQ(intent.kind, Kind::note) << message;
    EXPECT_EQ(intent.text, "the door code is 4711") << message;
  }
}

TEST(Intent, IsToRepeatAText) {
  for (const auto* message : {"repeat  two\n words ", "Repeat after me: two\n words ", "echo two\n words "}) {
    const auto intent = read_intent(message);
    EXPECT_EQ(intent.kind, Kind::echo) << message;
    EXPECT_EQ(intent.text, "two\n words ") << message;
  }
}

}  // namespace
}  // namespace agw
