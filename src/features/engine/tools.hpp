#pragma once

#include "features/engine/service.hpp"
#include "tools/tool.hpp"

namespace agw {

/// Delegate: hands a task to another agent, in a thread of its own, and waits for its answer.
Tool delegate_tool(Engine& engine);

}  // namespace agw
