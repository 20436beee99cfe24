#pragma once

#include <vector>

#include "tools/tool.hpp"

namespace agw::testing {

/// What a tool's test calls it with, and what the tool asked meanwhile.
struct ToolCaller {
  ToolRun run{.run_id = "run-1",
              .thread_id = "thread-1",
              .turn_id = "turn-1",
              .agent_id = "agent-1",
              .agent_name = "assistant"};
  Stop stop;
  std::function<Permission(const ToolTarget&)> judge = [](const ToolTarget&) { return Permission{}; };
  std::vector<ToolTarget> judged{};

  Task<ToolOutcome> call(const Tool& tool, std::string_view input) {
    const ToolCall made{.id = "call-1",
                        .input = parse_json(input)->as_object(),
                        .run = run,
                        .stop = stop,
                        .judge =
                            [this](const ToolTarget& target) {
                              judged.push_back(target);
                              return judge(target);
                            },
                        .stage = {}};
    co_return co_await tool.call(made);
  }
};

}  // namespace agw::testing
