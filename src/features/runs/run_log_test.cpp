#include "features/runs/run_log.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

const Run run{"r", "t", "q", "a", "agent", {}};

RunLog example() {
  RunLog log(run);
  log.text("Hel");
  log.reasoning("because");
  log.text("lo \"you\"");
  log.other("finish", {{"finishReason", "stop"}});
  return log;
}

TEST(RunLog, NumbersItsEventsFromOne) {
  RunLog log(run);
  EXPECT_EQ(log.text("Hi"), R"({"type":"text-delta","threadId":"t","turnId":"q","runId":"r","seq":1,"delta":"Hi"})");
  EXPECT_EQ(log.reasoning("so"),
            R"({"type":"reasoning-delta","threadId":"t","turnId":"q","runId":"r","seq":2,"delta":"so"})");
  EXPECT_EQ(log.other("stopped", {{"assistantTurnId", nullptr}}),
            R"({"type":"stopped","threadId":"t","turnId":"q","runId":"r","seq":3,"assistantTurnId":null})");
}

TEST(RunLog, AnEventMayBeAboutAnotherTurn) {
  RunLog log(run);
  EXPECT_EQ(log.other("steered", {{"turnId", "s"}, {"afterStep", 1}}),
            R"({"type":"steered","threadId":"t","runId":"r","seq":1,"turnId":"s","afterStep":1})");
}

TEST(RunLog, ItsContentIsTheTextDeltasOneAfterTheOther) {
  EXPECT_EQ(example().content(), "Hello \"you\"");
  EXPECT_EQ(example().reasoning_content(), "because");
}

TEST(RunLog, RendersAgainWhatWasSent) {
  RunLog log(run);
  const std::vector<std::string> sent{log.text("a"), log.reasoning("b"), log.other("error", {{"error", "x"}}),
                                      log.text("c")};
  EXPECT_EQ(log.events_after(0), sent);
  EXPECT_EQ(log.events_after(2), (std::vector<std::string>{sent[2], sent[3]}));
  EXPECT_TRUE(log.events_after(4).empty());
}

TEST(RunLog, SurvivesThePackingForTheDatabase) {
  const auto log = example();
  const auto again = RunLog::unpack(run, log.pack());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->events_after(0), log.events_after(0));
  EXPECT_EQ(again->content(), log.content());
}

TEST(RunLog, SurvivesThePackingInPieces) {
  const auto log = example();
  RunLog again(run);
  again.add_packed("Hel", log.pack_events(0, 2));
  again.add_packed("lo \"you\"", log.pack_events(2, 4));
  EXPECT_EQ(again.events_after(0), log.events_after(0));
  EXPECT_EQ(again.content(), log.content());
  EXPECT_EQ(again.reasoning_content(), log.reasoning_content());
}

TEST(RunLog, APieceWhoseEventsAreNotKnownIsOne) {
  RunLog log(run);
  log.add_packed("Hello", "");
  log.add_packed("", "");
  EXPECT_EQ(log.events_after(0).size(), 1u);
  EXPECT_EQ(log.content(), "Hello");
}

TEST(RunLog, TakesBackAnEndThatCouldNotBeStored) {
  auto log = example();
  log.take_back_other();
  EXPECT_EQ(log.seq(), 3);
  EXPECT_EQ(log.events_after(0).size(), 3u);
}

}  // namespace
}  // namespace agw
