#include "features/threads/tools.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace agw {

namespace {

constexpr auto input_schema = R"({
  "type": "object",
  "properties": {
    "query": {"type": "string", "minLength": 1,
              "description": "words (all must match), \"quoted phrases\", prefix*, AND, OR, NOT, parentheses"},
    "limit": {"type": "integer", "minimum": 1, "description": "how many turns at most; 20 unless told"}
  },
  "required": ["query"],
  "additionalProperties": false
})";
constexpr int most_turns = 100;

std::string shown(const FoundTurn& found) {
  return fmt::format("## {}, {}, thread {}, turn {}\n{}\n", to_text(found.role), to_iso8601(found.created_at),
                     found.thread_id, found.id, found.snippet);
}

Task<ToolOutcome> search(Threads& threads, const ToolCall& call) {
  TurnSearch wanted{.q = std::string(call.input.at("query").as_string()), .agent_id = call.run.agent_id};
  if (const auto* limit = call.input.if_contains("limit")) {
    wanted.limit.value = static_cast<int>(std::min<double>(limit->to_number<double>(), most_turns));
  }
  const auto found = co_await threads.search(std::move(wanted));
  if (found.empty()) co_return ToolOutcome{"No turn matches."};
  std::string text;
  for (const auto& turn : found) text += shown(turn);
  co_return ToolOutcome{std::move(text)};
}

}  // namespace

Tool search_turns_tool(Threads& threads) {
  return {.description = {"SearchTurns",
                          "Searches what was said in all conversations with you, this one included. Gives the turns "
                          "that match, best first, with the piece of text around what was found.",
                          parse_json(input_schema).value()},
          .call = [&threads](const ToolCall& call) { return search(threads, call); }};
}

}  // namespace agw
