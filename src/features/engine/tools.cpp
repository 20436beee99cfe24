#include "features/engine/tools.hpp"

namespace agw {

namespace {

using namespace std::chrono_literals;

/// Tasks that are worth delegating may take a while.
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

}  // namespace

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
