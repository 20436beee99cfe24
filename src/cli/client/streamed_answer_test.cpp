#include "cli/client/streamed_answer.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agw::cli {
namespace {

using ::testing::HasSubstr;
using AnswerProgress = StreamedAnswer::Progress;
using AnswerOutcome = StreamedAnswer::Outcome;

/// An answer to turn `t` and its printed output.
struct Printed {
  explicit Printed(Terminal terminal = {}) : printer(out, terminal, notes, terminal) {}

  std::ostringstream out;
  std::ostringstream notes;
  AnswerPrinter printer;
  StreamedAnswer answer{"t", printer};
};

json::object event(int sequence, std::string_view type, json::object more = {}) {
  more["type"] = type;
  more["threadId"] = "thread";
  more["turnId"] = "t";
  more["runId"] = "r";
  more["seq"] = sequence;
  return more;
}

json::object text(int sequence, std::string_view delta) { return event(sequence, "text-delta", {{"delta", delta}}); }

json::object finish(int sequence, std::string_view reason) {
  return event(sequence, "finish", {{"finishReason", reason}});
}

TEST(StreamedAnswer, PrintsTextAsItComesAndEndsItsLine) {
  Printed printed;
  EXPECT_EQ(printed.answer.take(text(1, "Hello, ")), AnswerProgress::in_progress);
  EXPECT_EQ(printed.out.str(), "Hello, ");
  EXPECT_EQ(printed.answer.take(text(2, "world")), AnswerProgress::in_progress);
  EXPECT_EQ(printed.answer.take(finish(3, "stop")), AnswerProgress::ended);
  EXPECT_EQ(printed.out.str(), "Hello, world\n");
  EXPECT_EQ(printed.notes.str(), "");
  EXPECT_EQ(printed.answer.outcome(), AnswerOutcome::finished);
}

TEST(StreamedAnswer, AddsNoSecondLineFeed) {
  Printed printed;
  printed.answer.take(text(1, "done\n"));
  printed.answer.take(finish(2, "stop"));
  EXPECT_EQ(printed.out.str(), "done\n");
}

TEST(StreamedAnswer, LeavesOtherRunsAlone) {
  Printed printed;
  auto other = text(1, "not mine");
  other["turnId"] = "another";
  EXPECT_EQ(printed.answer.take(other), AnswerProgress::in_progress);
  EXPECT_EQ(printed.answer.take({{"type", "turn-created"}, {"threadId", "thread"}}), AnswerProgress::in_progress);
  EXPECT_EQ(printed.out.str(), "");
  EXPECT_FALSE(printed.answer.run_id());
}

TEST(StreamedAnswer, FollowsTheRunThatItsMessageJoins) {
  Printed printed;
  auto before = text(4, "not mine yet");
  auto joins = event(5, "steered", {{"afterStep", 1}});
  auto after = text(6, "mine now");
  auto end = finish(7, "stop");
  before["turnId"] = after["turnId"] = end["turnId"] = "another";
  for (const auto& coming : {before, joins, after}) EXPECT_EQ(printed.answer.take(coming), AnswerProgress::in_progress);
  EXPECT_EQ(printed.answer.take(end), AnswerProgress::ended);
  EXPECT_EQ(printed.out.str(), "mine now\n");
  EXPECT_THAT(printed.notes.str(), HasSubstr("joins the answer"));
}

TEST(StreamedAnswer, CatchesUpWithoutLossesAndDuplicates) {
  Printed printed;
  printed.answer.take(text(1, "a"));
  printed.answer.take(text(2, "b"));
  EXPECT_EQ(printed.answer.take(text(5, "e")), AnswerProgress::missed);
  EXPECT_EQ(printed.answer.run_id(), "r");
  EXPECT_EQ(printed.answer.last_sequence(), 2);
  for (const auto& caught : {text(3, "c"), text(4, "d"), text(5, "e"), text(6, "f")}) {
    EXPECT_EQ(printed.answer.take_caught_up(caught), AnswerProgress::in_progress);
  }
  EXPECT_EQ(printed.answer.take(text(6, "f")), AnswerProgress::in_progress);
  EXPECT_EQ(printed.answer.take(text(7, "g")), AnswerProgress::in_progress);
  EXPECT_EQ(printed.answer.take(finish(8, "stop")), AnswerProgress::ended);
  EXPECT_EQ(printed.out.str(), "abcdefg\n");
}

TEST(StreamedAnswer, NoticesThatItMissedTheFirstEvent) {
  Printed printed;
  EXPECT_EQ(printed.answer.take(text(2, "b")), AnswerProgress::missed);
  EXPECT_EQ(printed.out.str(), "");
}

TEST(StreamedAnswer, CatchesUpWithTheStoredTurn) {
  Printed printed;
  printed.answer.take(text(1, "Grü"));
  printed.answer.take_stored({{"content", "Grüße"}, {"metadata", json::object{{"finish_reason", "stop"}}}});
  EXPECT_EQ(printed.out.str(), "Grüße\n");
  EXPECT_EQ(printed.answer.outcome(), AnswerOutcome::finished);
}

TEST(StreamedAnswer, SaysThatAStoredTurnIsIncomplete) {
  Printed printed;
  printed.answer.take_stored({{"content", "ha"}, {"metadata", json::object{{"finish_reason", "interrupted"}}}});
  EXPECT_EQ(printed.out.str(), "ha\n");
  EXPECT_THAT(printed.notes.str(), HasSubstr("interrupted"));
  EXPECT_EQ(printed.answer.outcome(), AnswerOutcome::failed);
}

TEST(StreamedAnswer, AnErrorIsPrintedAndFails) {
  Printed printed;
  printed.answer.take(event(1, "error", {{"error", "no\x1b key"}}));
  EXPECT_EQ(printed.answer.take(finish(2, "error")), AnswerProgress::ended);
  EXPECT_EQ(printed.notes.str(), "agw: no\\x1b key\n");
  EXPECT_EQ(printed.answer.outcome(), AnswerOutcome::failed);
}

TEST(StreamedAnswer, SaysWhyItEndedEarly) {
  Printed printed;
  printed.answer.take(finish(1, "length"));
  EXPECT_THAT(printed.notes.str(), HasSubstr("length"));
  EXPECT_EQ(printed.answer.outcome(), AnswerOutcome::finished);
}

TEST(StreamedAnswer, AStoppedOneEndsItsLine) {
  Printed printed;
  printed.answer.take(text(1, "half"));
  EXPECT_EQ(printed.answer.take(event(2, "stopped", {{"assistantTurnId", nullptr}})), AnswerProgress::ended);
  EXPECT_EQ(printed.out.str(), "half\n");
  EXPECT_EQ(printed.notes.str(), "(stopped)\n");
  EXPECT_EQ(printed.answer.outcome(), AnswerOutcome::stopped);
}

TEST(StreamedAnswer, EscapesTextOfAgents) {
  Printed printed;
  printed.answer.take(text(1, "\x1b]0;title\x07\u202e"));
  EXPECT_EQ(printed.out.str(), "\\x1b]0;title\\x07\\u202e");
}

TEST(StreamedAnswer, NotesToolsInShortLines) {
  Printed printed;
  printed.answer.take(event(1, "tool-start", {{"toolName", "Read"}, {"input", {{"path", "a\nb.md"}}}}));
  printed.answer.take(event(2, "tool-end", {{"toolName", "Read"}, {"isError", false}, {"durationMs", 12}}));
  printed.answer.take(event(3, "tool-end", {{"toolName", "Bash"}, {"isError", true}, {"output", "no\nsuch"}}));
  EXPECT_EQ(printed.notes.str(), "> Read {\"path\":\"a\\nb.md\"}\n< Read (12 ms)\n< Bash failed: no such\n");
  EXPECT_EQ(printed.out.str(), "");
}

TEST(StreamedAnswer, KeepsNotesOutOfALineOnATerminal) {
  Printed printed({.present = true});
  printed.answer.take(text(1, "I look"));
  printed.answer.take(event(2, "tool-end", {{"toolName", "Read"}, {"durationMs", 1}}));
  EXPECT_EQ(printed.out.str(), "I look\n");
}

TEST(StreamedAnswer, LeavesTheTextInAFileAsItWasSent) {
  Printed printed;
  printed.answer.take(text(1, "I look"));
  printed.answer.take(event(2, "tool-end", {{"toolName", "Read"}, {"durationMs", 1}}));
  printed.answer.take(text(3, "\n\nFound."));
  EXPECT_EQ(printed.out.str(), "I look\n\nFound.");
}

TEST(StreamedAnswer, ShowsReasoningOnlyWhereItCanBeDistinguished) {
  Printed plain;
  plain.answer.take(event(1, "reasoning-delta", {{"delta", "hm"}}));
  EXPECT_EQ(plain.out.str(), "");

  Printed coloured({.present = true, .colours = true});
  coloured.answer.take(event(1, "reasoning-delta", {{"delta", "hm"}}));
  coloured.answer.take(text(2, "yes"));
  EXPECT_EQ(coloured.out.str(), "\x1b[2mhm\x1b[0m\nyes");
}

}  // namespace
}  // namespace agw::cli
