#include <algorithm>

#include <fmt/format.h>

#include "base/json/json_values.hpp"
#include "features/threads/service.hpp"
#include "io/http/web_url.hpp"
#include "tools/tool.hpp"
#include "tools/web/web_fetch.hpp"

namespace agw {

namespace {

constexpr auto search_schema = R"({
  "type": "object",
  "properties": {
    "query": {"type": "string", "minLength": 1,
              "description": "words (all must match), \"quoted phrases\", prefix*, AND, OR, NOT, parentheses"},
    "limit": {"type": "integer", "minimum": 1, "description": "how many turns at most; default 20"}
  },
  "required": ["query"],
  "additionalProperties": false
})";
constexpr int max_turns = 100;

std::string shown(const FoundTurn& found) {
  return fmt::format("## {}, {}, thread {}, turn {}\n{}\n", to_text(found.role), to_iso8601(found.created_at),
                     found.thread_id, found.id, found.snippet);
}

constexpr auto tasks_schema = R"({
  "type": "object",
  "properties": {
    "items": {
      "type": "array",
      "maxItems": 100,
      "description": "the whole list, in order; it replaces the one before",
      "items": {
        "type": "object",
        "properties": {
          "text": {"type": "string", "minLength": 1, "maxLength": 500, "description": "what is to be done, in one line"},
          "status": {"type": "string", "enum": ["pending", "active", "done"]}
        },
        "required": ["text", "status"],
        "additionalProperties": false
      }
    }
  },
  "required": ["items"],
  "additionalProperties": false
})";

std::vector<ThreadTask> tasks_in(const json::object& input) {
  std::vector<ThreadTask> tasks;
  for (const auto& item : input.at("items").as_array()) {
    const auto& members = item.as_object();
    tasks.push_back({string_or_empty(members, "text"), enum_member(members, "status", TaskStatus::pending)});
  }
  return tasks;
}

Task<ToolOutcome> set_tasks(Threads& threads, const ToolCall& call) {
  auto tasks = tasks_in(call.input);
  if (size_of(tasks) > max_task_bytes) {
    co_return failed(
        fmt::format("invalid input: the texts of all items may have {} bytes together; shorten them or "
                    "leave out what is done",
                    max_task_bytes));
  }
  const auto done = std::ranges::count(tasks, TaskStatus::done, &ThreadTask::status);
  auto said = fmt::format("The list has {} tasks, {} of them done.", tasks.size(), done);
  co_await threads.set_tasks(call.run.thread_id, call.run.run_id, std::move(tasks));
  co_return ToolOutcome{std::move(said)};
}

Task<ToolOutcome> search(Threads& threads, const ToolCall& call) {
  TurnSearch wanted{.q = std::string(call.input.at("query").as_string()), .agent_id = call.run.agent_id};
  if (const auto* limit = call.input.if_contains("limit")) {
    wanted.limit.value = static_cast<int>(std::min<double>(limit->to_number<double>(), max_turns));
  }
  const auto found = co_await threads.search(std::move(wanted));
  if (found.empty()) co_return ToolOutcome{"No turn matches."};
  std::string text;
  for (const auto& turn : found) text += shown(turn);
  co_return ToolOutcome{std::move(text)};
}

/// Whether an agent rather than a person wrote the question: in a run that Delegate started, another agent did; in a
/// job, the job's agent did.
Task<bool> is_asked_by_agent(Threads& threads, const ToolRun& run) {
  const auto* depth = run.inherited.if_contains("depth");
  const bool was_handed_down = depth && depth->is_int64() && depth->get_int64() > 1;
  co_return was_handed_down && !(co_await threads.require(run.thread_id)).job_id;
}

bool is_search_result(const Turn& turn) {
  return turn.role == Role::tool && turn.metadata && string_member(*turn.metadata, "tool_name") == "WebSearch";
}

Task<bool> is_url_named(Threads& threads, const ToolRun& run, WebUrl url) {
  const bool by_agent = co_await is_asked_by_agent(threads, run);
  TurnFilter filter{.limit = {1000}};
  for (;;) {
    const auto turns = co_await threads.turns(run.thread_id, filter);
    for (const auto& turn : turns) {
      const bool counts = is_search_result(turn) || (turn.role == Role::user && !by_agent);
      if (counts && mentions_url(turn.content, url)) co_return true;
    }
    if (turns.size() < 1000) co_return false;
    filter.before = turns.back().id;
  }
}

}  // namespace

std::function<Task<bool>(const ToolRun& run, const WebUrl& url)> named_urls(Threads& threads) {
  return [&threads](const ToolRun& run, const WebUrl& url) { return is_url_named(threads, run, url); };
}

Tool search_turns_tool(Threads& threads) {
  return {.description = {"SearchTurns",
                          "Searches what was said in all conversations with you, this one included. Gives the turns "
                          "that match, best first, with the piece of text around what was found.",
                          parse_json(search_schema).value()},
          .call = [&threads](const ToolCall& call) { return search(threads, call); }};
}

Tool tasks_tool(Threads& threads) {
  return {.description = {"Tasks",
                          "Shows the person a list of what you do on this thread. Use it for work of several steps: "
                          "write it when you begin, and again when a task is done or the plan changes. Each call gives "
                          "the whole list.",
                          parse_json(tasks_schema).value()},
          .call = [&threads](const ToolCall& call) { return set_tasks(threads, call); }};
}

}  // namespace agw
