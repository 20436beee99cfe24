#pragma once

#include <memory>
#include <optional>

#include "features/agents/service.hpp"
#include "features/engine/permission.hpp"
#include "features/extensions/service.hpp"
#include "features/runs/types.hpp"
#include "tools/tool.hpp"

namespace agw {

/// What a run that was handed down by Delegate or RunJob got from the one that started it; a person's has the defaults.
/// It travels in the run's order.
struct HandedDown {
  std::optional<Stage> stage;      ///< of the starter
  std::optional<ThreadMode> mode;  ///< of the starter
  int depth = 0;                   ///< how many runs it came through
};
HandedDown handed_down_in(const json::object& order);
/// The member of an order that `handed_down_in` reads.
inline constexpr std::string_view handed_down_member = "handed_down";

/// An agent at work: everything of a run that decides on what its tools may do.
struct RunningAgent {
  ExtensionPointer agent;
  ThreadMode mode{};
  HandedDown handed_down;
  bool dry = false;    ///< nothing but reading is really done
  AgentLimits limits;  ///< as the run began
  ToolRun run;
};
using RunningAgentPointer = std::shared_ptr<const RunningAgent>;

/// A call of `tool` by that agent, its target still open. The stage is the one that it has now.
ToolRequest request_of(const RunningAgent& caller, const Stages& stages, const Tool& tool);

}  // namespace agw
