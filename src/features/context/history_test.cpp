#include "features/context/history.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace agw {
namespace {

Turn tool_turn(const std::string& run, const std::string& call, std::string output, bool is_error = false) {
  Turn turn;
  turn.role = Role::tool;
  turn.content = std::move(output);
  turn.metadata = json::object{{"run_id", run},       {"tool_call_id", call}, {"tool_name", "Read"},
                               {"input", {{"p", 1}}}, {"is_error", is_error}, {"duration_ms", 1}};
  return turn;
}

Turn answer(const std::string& run, std::string content, json::array steps) {
  Turn turn;
  turn.role = Role::assistant;
  turn.content = std::move(content);
  turn.metadata = json::object{{"run_id", run}, {"steps", std::move(steps)}};
  return turn;
}

json::object step(std::int64_t text_end, json::array ids) {
  return {{"text_end", text_end}, {"tool_call_ids", std::move(ids)}};
}

using Roles = std::vector<Message::Role>;

Roles roles_of(const std::vector<Message>& messages) {
  Roles roles;
  for (const auto& message : messages) roles.push_back(message.role);
  return roles;
}

std::vector<Message> messages_of(ToolHistory& history, const Turn& answer) {
  std::vector<Message> messages;
  history.add_messages_of(answer, messages);
  return messages;
}

std::vector<Message> messages_of(ToolHistory&& history, const Turn& answer) { return messages_of(history, answer); }

constexpr auto said = Message::Role::assistant;
constexpr auto gave = Message::Role::tool;

TEST(ToolHistory, PutsCallsWhereTheyWereMade) {
  const std::vector<Turn> turns{tool_turn("r", "a", "one"), tool_turn("r", "b", "two", true),
                                answer("r", "Größe.\n\nDone.", {step(6, {"a"}), step(6, {"b"})})};
  const auto messages = messages_of(ToolHistory(turns), turns.back());
  ASSERT_EQ(roles_of(messages), (Roles{said, gave, said, gave, said}));
  EXPECT_EQ(messages[0].text, "Größe.");
  EXPECT_EQ(messages[0].tool_uses.at(0).id, "a");
  EXPECT_EQ(messages[0].tool_uses.at(0).input, (json::object{{"p", 1}}));
  EXPECT_EQ(messages[1].text, "one");
  EXPECT_EQ(messages[2].text, "");
  EXPECT_TRUE(messages[3].is_error);
  EXPECT_EQ(messages[4].text, "Done.");
}

TEST(ToolHistory, MakesNamesOfCallsAcceptable) {
  std::vector<Turn> turns{tool_turn("r", "a b", "one"), answer("r", "", {step(0, {"a b"})})};
  turns[0].metadata->erase("tool_name");
  const auto messages = messages_of(ToolHistory(turns), turns.back());
  ASSERT_EQ(roles_of(messages), (Roles{said, gave}));
  EXPECT_EQ(messages[0].tool_uses.at(0).name, "unnamed");
  EXPECT_EQ(messages[0].tool_uses.at(0).id, "a_b");
  EXPECT_EQ(messages[1].tool_call_id, "a_b");
}

TEST(ToolHistory, KeepsLongIdsDistinctWithinTheLimit) {
  const std::string first(65, 'x');
  const auto second = first + "y";
  const std::vector<Turn> turns{tool_turn("r", first, "1"), tool_turn("r", second, "2"),
                                answer("r", "", {step(0, {first, second})})};
  const auto messages = messages_of(ToolHistory(turns), turns.back());
  ASSERT_EQ(roles_of(messages), (Roles{said, gave, gave}));
  EXPECT_EQ(messages[1].tool_call_id, std::string(64, 'x'));
  EXPECT_EQ(messages[2].tool_call_id, std::string(62, 'x') + "_2");
}

TEST(ToolHistory, LeavesOutCallsWithoutATurnAndTurnsWithoutAnAnswer) {
  const std::vector<Turn> turns{tool_turn("other", "x", "lost"), answer("r", "Done.", {step(0, {"gone"})})};
  const auto messages = messages_of(ToolHistory(turns), turns.back());
  ASSERT_EQ(roles_of(messages), Roles{said});
  EXPECT_TRUE(messages[0].tool_uses.empty());
}

TEST(ToolHistory, ChangesIdsThatWereUsedTwice) {
  const std::vector<Turn> turns{tool_turn("r", "a", "1"), answer("r", "", {step(0, {"a"})}), tool_turn("s", "a", "2"),
                                answer("s", "", {step(0, {"a"})})};
  ToolHistory history(turns);
  EXPECT_EQ(messages_of(history, turns[1])[1].tool_call_id, "a");
  const auto second = messages_of(history, turns[3]);
  EXPECT_EQ(second[0].tool_uses.at(0).id, "a_2");
  EXPECT_EQ(second[1].tool_call_id, "a_2");
}

TEST(ToolHistory, ChangesIdsThatTheCurrentRunUses) {
  const std::vector<Turn> turns{tool_turn("r", "a", "1"), tool_turn("r", "a_2", "2"), tool_turn("r", "b", "3"),
                                answer("r", "", {step(0, {"a", "a_2", "b"})})};
  auto messages = messages_of(ToolHistory(turns), turns.back());
  make_call_ids_unique(messages, {"a", "c"});
  EXPECT_EQ(messages[0].tool_uses.at(0).id, "a_3");
  EXPECT_EQ(messages[1].tool_call_id, "a_3");
  EXPECT_EQ(messages[2].tool_call_id, "a_2");
  EXPECT_EQ(messages[3].tool_call_id, "b");
}

TEST(ToolHistory, LeavesOutACallWhoseTurnHasNoMetadata) {
  std::vector<Turn> turns{tool_turn("r", "a", "one"), answer("r", "Done.", {step(0, {""})})};
  turns[0].metadata.reset();
  turns[1].metadata->erase("run_id");
  const auto messages = messages_of(ToolHistory(turns), turns.back());
  ASSERT_EQ(roles_of(messages), (Roles{said}));
  EXPECT_EQ(messages[0].text, "Done.");
}

TEST(ToolHistory, LeavesOutAStepThatEndsBeforeTheOneBefore) {
  const auto turn = answer("r", "Said.", {step(3, {}), step(std::numeric_limits<std::int64_t>::min(), {})});
  const auto messages = messages_of(ToolHistory({}), turn);
  ASSERT_EQ(roles_of(messages), (Roles{said, said}));
  EXPECT_EQ(messages[1].text, "d.");
}

TEST(ToolHistory, ToleratesInvalidMetadata) {
  for (const auto* metadata : {R"({"steps": 5})", R"({"steps": [5, {"text_end": -7, "tool_call_ids": ["a"]}, {}]})",
                               R"({"steps": [{"text_end": 99999, "tool_call_ids": [{}]}]})", R"({"run_id": []})"}) {
    Turn turn = answer("r", "Said.", {});
    turn.metadata = parse_json(metadata).value().as_object();
    const auto messages = messages_of(ToolHistory({}), turn);
    ASSERT_EQ(messages.size(), 1u) << metadata;
    EXPECT_EQ(messages[0].text, "Said.");
  }
}

Turn steered(const std::string& run, std::int64_t after_step, std::string content) {
  Turn turn;
  turn.role = Role::user;
  turn.content = std::move(content);
  turn.metadata = json::object{{"run_id", run}, {"after_step", after_step}};
  return turn;
}

std::optional<Message> as_message(const Turn& turn) {
  Message message;
  message.text = turn.content;
  return message;
}

TEST(ToolHistory, PutsSteeredMessagesAfterTheResultsOfTheirStep) {
  const std::vector<Turn> turns{
      steered("r", 1, "first"),   steered("r", 1, "second"),
      steered("r", 2, "third"),   tool_turn("r", "a", "one"),
      tool_turn("r", "b", "two"), answer("r", "Look.Again.Done.", {step(5, {"a"}), step(11, {"b"})})};
  constexpr auto person = Message::Role::user;
  ToolHistory history(turns, as_message);
  const auto messages = messages_of(history, turns.back());
  ASSERT_EQ(roles_of(messages), (Roles{said, gave, person, person, said, gave, person, said}));
  EXPECT_EQ(messages[2].text, "first");
  EXPECT_EQ(messages[3].text, "second");
  EXPECT_EQ(messages[6].text, "third");
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(history.is_in_answer(turns[i]));
}

TEST(ToolHistory, HasNoPlaceForAMessageWhoseAnswerIsMissingOrShorter) {
  const std::vector<Turn> turns{steered("r", 2, "of a step that is not there"), steered("gone", 1, "of another run"),
                                steered("r", 0, "before all steps"), tool_turn("r", "a", "one"),
                                answer("r", "", {step(0, {"a"})})};
  ToolHistory history(turns, as_message);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_FALSE(history.is_in_answer(turns[i]));
  EXPECT_EQ(roles_of(messages_of(history, turns.back())), (Roles{said, gave}));
}

}  // namespace
}  // namespace agw
