#pragma once

#include <vector>

#include "tools/tool.hpp"

namespace agw::testing {

/// The environment of a tool in a test, and the targets that the tool had authorized.
struct ToolCaller {
  ToolRun run{.run_id = "run-1",
              .thread_id = "thread-1",
              .turn_id = "turn-1",
              .agent_id = "agent-1",
              .agent_name = "assistant"};
  StopSource stop;
  std::function<Permission(const ToolTarget&)> authorize = [](const ToolTarget&) { return Permission{}; };
  std::vector<ToolTarget> judged{};

  Task<ToolOutcome> call(const Tool& tool, std::string_view input) {
    const ToolCall made{.id = "call-1",
                        .input = parse_json(input)->as_object(),
                        .run = run,
                        .stop = stop,
                        .authorize =
                            [this](const ToolTarget& target) {
                              judged.push_back(target);
                              return authorize(target);
                            },
                        .stage = {}};
    co_return co_await tool.call(made);
  }
};

}  // namespace agw::testing
