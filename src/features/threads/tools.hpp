#pragma once

#include "features/threads/service.hpp"
#include "io/web_url.hpp"
#include "tools/tool.hpp"

namespace agw {

/// SearchTurns: the search over the turns of the calling agent.
Tool search_turns_tool(Threads& threads);

/// Whether a person or a search named the URL in the run's thread. What another agent wrote there, to hand its work
/// down, names nothing.
Task<bool> is_url_named(Threads& threads, const ToolRun& run, WebUrl url);

}  // namespace agw
