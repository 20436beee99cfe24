#include "features/librarian/past_turns.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/error.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

using ::testing::ElementsAre;

FoundTurn turn(std::string thread_id, Role role, std::string content, json::object metadata = {}) {
  FoundTurn found;
  found.thread_id = std::move(thread_id);
  found.role = role;
  found.content = std::move(content);
  found.created_at = *parse_iso8601("2026-01-02T14:03:59Z");
  if (!metadata.empty()) found.metadata = std::move(metadata);
  found.snippet = "…snippet…";
  return found;
}

/// The passages that `find` returns for the results of a search.
class PastTurnsTest : public ::testing::Test {
protected:
  std::vector<Passage> find(std::vector<FoundTurn> found) {
    PastTurns source(
        [&](TurnSearch wanted) -> Task<std::vector<FoundTurn>> {
          asked_ = wanted;
          co_return found;
        },
        [&](std::string id) -> Task<Thread> {
          if (id == "deleted") throw NotFound("thread not found");
          Thread thread;
          thread.id = id;
          thread.title = "Harbour\nnotes";
          co_return thread;
        });
    std::vector<Passage> passages;
    testing::run([&](Loop&) -> Task<> { passages = co_await source.find(question_); });
    return passages;
  }

  std::vector<std::string> texts(std::vector<FoundTurn> found) {
    std::vector<std::string> list;
    for (const auto& passage : find(std::move(found))) list.push_back(passage.text);
    return list;
  }

  LibraryQuestion question_{.words = {"deploy"}, .message = "deploy?", .agent_id = "agent", .thread_id = "here"};
  TurnSearch asked_;
};

TEST_F(PastTurnsTest, AsksForAllThreadsOfTheAgent) {
  find({});
  EXPECT_EQ(asked_.q, "deploy*");
  EXPECT_EQ(asked_.agent_id, "agent");
  EXPECT_FALSE(asked_.thread_id);
}

TEST_F(PastTurnsTest, SaysWhoWhenAndWhere) {
  const auto passages = find({turn("there", Role::user, "Deploy on Friday."),
                              turn("there", Role::assistant, "Deployed.", {{"model", "ollama/llama"}})});
  ASSERT_EQ(passages.size(), 2U);
  EXPECT_EQ(passages[0].source, "you, 2026-01-02 14:03 UTC, in “Harbour notes” (thread `there`)");
  EXPECT_EQ(passages[1].source,
            "the assistant (ollama/llama), 2026-01-02 14:03 UTC, in “Harbour notes” (thread `there`)");
  EXPECT_FALSE(passages[0].of_this_thread);
}

TEST_F(PastTurnsTest, PutsTheThreadItselfFirst) {
  question_.limit = 2;
  const auto passages = find({turn("there", Role::user, "deploy 1"), turn("there", Role::user, "deploy 2"),
                              turn("here", Role::user, "deploy 3")});
  ASSERT_EQ(passages.size(), 2U);
  EXPECT_EQ(passages[0].source, "you, 2026-01-02 14:03 UTC, in this thread");
  EXPECT_TRUE(passages[0].of_this_thread);
  EXPECT_EQ(passages[1].text, "deploy 1");
}

TEST_F(PastTurnsTest, LeavesOutWhatIsNoAnswer) {
  EXPECT_THAT(texts({turn("here", Role::user, "deploy?"), turn("there", Role::user, "When was the deploy?"),
                     turn("there", Role::assistant, "> Deploy", {{"model", "offline/librarian"}}),
                     turn("there", Role::assistant, "Old deploy", {{"superseded", true}}),
                     turn("there", Role::tool, "deploy.sh"), turn("deleted", Role::user, "Gone deploy"),
                     turn("there", Role::user, "The deploy is on Friday.")}),
              ElementsAre("The deploy is on Friday."));
}

TEST_F(PastTurnsTest, QuotesAPieceOfALongTurn) {
  EXPECT_THAT(texts({turn("there", Role::user, std::string(1000, 'x') + " deploy")}), ElementsAre("…snippet…"));
}

}  // namespace
}  // namespace agw
