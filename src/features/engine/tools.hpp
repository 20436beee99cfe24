#pragma once

#include "features/engine/service.hpp"
#include "tools/tool.hpp"

namespace agw {

/// Delegate: gives a task to another agent, in a new thread, and waits for its answer.
Tool delegate_tool(Engine& engine);
/// FindTools: offers deferred tools that match a query.
Tool find_tools_tool();

}  // namespace agw
