#pragma once

#include "features/threads/service.hpp"
#include "tools/tool.hpp"

namespace agw {

/// SearchTurns: the search over the turns of the calling agent.
Tool search_turns_tool(Threads& threads);

}  // namespace agw
