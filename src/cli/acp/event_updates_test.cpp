#include "cli/acp/event_updates.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/json/json_values.hpp"

namespace agw::cli {
namespace {

json::object object(std::string_view text) { return parse_json(text)->as_object(); }

std::vector<std::string> kinds(const std::vector<json::object>& updates) {
  std::vector<std::string> names;
  for (const auto& update : updates) names.push_back(string_or_empty(update, "sessionUpdate"));
  return names;
}

TEST(EventUpdates, ReportsAToolCallFromStartToEnd) {
  EventUpdates updates({.directory = "/site"});
  const auto begin = updates.of(object(R"({"type": "tool-start", "runId": "r", "toolCallId": "c1", "toolName": "Edit",
      "input": {"path": "a.c", "old_string": "1", "new_string": "2"}})"));
  ASSERT_EQ(kinds(begin), std::vector<std::string>{"tool_call"});
  EXPECT_EQ(begin[0].at("kind"), "edit");
  EXPECT_EQ(begin[0].at("locations"), parse_json(R"([{"path": "/site/a.c"}])"));
  EXPECT_EQ(begin[0].at("content"),
            parse_json(R"([{"type": "diff", "path": "/site/a.c", "oldText": "1", "newText": "2"}])"));
  EXPECT_EQ(updates.active_call("Edit", object(R"({"path": "a.c", "old_string": "1", "new_string": "2"})")), "r/c1");
  EXPECT_EQ(updates.shown_id("c1"), "r/c1");
  const auto end = updates.of(object(
      R"({"type": "tool-end", "runId": "r", "toolCallId": "c1", "toolName": "Edit", "output": "replaced",
          "isError": false})"));
  EXPECT_EQ(end[0].at("status"), "completed");
  EXPECT_FALSE(end[0].contains("content")) << "the diff stays";
}

TEST(EventUpdates, TellsEqualIdsOfDifferentRunsApart) {
  EventUpdates updates({.directory = "/site"});
  const auto begins = [&](std::string_view run) {
    return updates.of(
        json::object{{"type", "tool-start"}, {"runId", run}, {"toolCallId", "call_1"}, {"toolName", "A"}});
  };
  EXPECT_NE(begins("r1")[0].at("toolCallId"), begins("r2")[0].at("toolCallId"));
}

TEST(EventUpdates, BeginsANewMessageAfterACall) {
  EventUpdates updates({.directory = "/site"});
  const auto text = [&](std::string_view delta) {
    return updates.of(json::object{{"type", "text-delta"}, {"runId", "r"}, {"delta", delta}});
  };
  const auto first = text("one")[0].at("messageId");
  EXPECT_EQ(text(" more")[0].at("messageId"), first);
  updates.of(object(R"({"type": "tool-start", "toolCallId": "c", "toolName": "Tasks", "input": {}})"));
  EXPECT_TRUE(text("\n\n").empty()) << "what separates steps separates nothing here";
  EXPECT_NE(text("two")[0].at("messageId"), first);
}

TEST(EventUpdates, ReplaysCallsWhereTheyWere) {
  EventUpdates updates({.directory = "/site"});
  const auto replayed =
      updates.replay({object(R"({"role": "user", "id": "t1", "content": "Look."})"),
                      object(R"({"role": "user", "id": "t0", "content": "old", "metadata": {"superseded": true}})"),
                      object(R"({"role": "tool", "id": "t2", "content": "text",
                  "metadata": {"run_id": "r", "tool_call_id": "c", "tool_name": "Read", "input": {"path": "b"}}})"),
                      object(R"({"role": "assistant", "id": "t3", "content": "Grüße. Done.",
                  "metadata": {"run_id": "r", "reasoning": "Hm.",
                               "steps": [{"text_end": 6, "tool_call_ids": ["c", "lost"]}]}})")});
  EXPECT_EQ(kinds(replayed), (std::vector<std::string>{"user_message_chunk", "agent_thought_chunk",
                                                       "agent_message_chunk", "tool_call", "agent_message_chunk"}));
  EXPECT_EQ(replayed[1].at("content").at("text"), "Hm.");
  EXPECT_EQ(replayed[2].at("content").at("text"), "Grüße.");
  EXPECT_EQ(replayed[3].at("toolCallId"), "r/c");
  EXPECT_EQ(replayed[3].at("status"), "completed");
}

TEST(EventUpdates, ReportsACompactionOnlyToClientsThatShowIt) {
  const auto event =
      object(R"({"type": "thread-updated", "compacted": true, "thread": {"title": "A", "updated_at": "now"}})");
  EXPECT_EQ(kinds(EventUpdates({.directory = "/"}).of(event)), std::vector<std::string>{"session_info_update"});
  EXPECT_EQ(kinds(EventUpdates({.directory = "/", .shows_compaction = true}).of(event)),
            (std::vector<std::string>{"compaction_update", "session_info_update"}));
}

}  // namespace
}  // namespace agw::cli
