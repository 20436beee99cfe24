#include <fmt/format.h>

#include "features/engine/service.hpp"
#include "tools/tool.hpp"

namespace agw {

namespace {

using namespace std::chrono_literals;

/// Delegated tasks may take much longer than other calls.
constexpr auto max_task_time = 1h;

constexpr auto input_schema = R"({
  "type": "object",
  "properties": {
    "agent": {"type": "string", "description": "the other agent's id or name"},
    "task": {"type": "string", "minLength": 1,
             "description": "everything that it needs to know: it has not read this conversation"}
  },
  "required": ["agent", "task"],
  "additionalProperties": false
})";

Task<ToolOutcome> delegate(Engine& engine, const ToolCall& call) {
  co_return co_await engine.delegate(call.run, std::string(call.input.at("agent").as_string()),
                                     std::string(call.input.at("task").as_string()), call.stop);
}

constexpr auto find_tools_schema = R"({
  "type": "object",
  "properties": {
    "query": {"type": "string", "minLength": 1, "maxLength": 1000,
              "description": "what the tool should do, in a few words, or names of tools"}
  },
  "required": ["query"],
  "additionalProperties": false
})";

std::string shown(const ToolDescription& tool) {
  return "\n\n" + to_json(json::object{
                      {"name", tool.name}, {"description", tool.description}, {"input_schema", *tool.input_schema}});
}

Task<ToolOutcome> find_tools(const ToolCall& call) {
  if (!call.find_tools) co_return ToolOutcome{"There are no other tools than those that you have."};
  const auto found = co_await call.find_tools(std::string(call.input.at("query").as_string()));
  if (found.empty()) co_return ToolOutcome{"No tool matches. Use other words, or the name of a tool."};
  ToolOutcome outcome{fmt::format("{} of the tools match, best first. You can call them from now on.", found.size())};
  for (const auto& tool : found) {
    outcome.output += shown(tool);
    outcome.found_tools.push_back(tool.name);
  }
  co_return outcome;
}

}  // namespace

Tool find_tools_tool() {
  return {
      .description = {std::string(find_tools_name),
                      "Finds tools whose definitions you do not have: gives up to 5 that match, with what they take. "
                      "You can call them from then on.",
                      parse_json(find_tools_schema).value()},
      .call = find_tools};
}

Tool delegate_tool(Engine& engine) {
  return {.description = {"Delegate",
                          "Hands a task to another agent, which works on it in a thread of its own with no more rights "
                          "than you have, and gives you its answer.",
                          parse_json(input_schema).value()},
          .effect = ToolEffect::executes,
          .limit = max_task_time,
          .call = [&engine](const ToolCall& call) { return delegate(engine, call); }};
}

}  // namespace agw
