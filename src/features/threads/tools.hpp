#pragma once

#include "features/threads/service.hpp"
#include "io/http/web_url.hpp"
#include "tools/tool.hpp"

namespace agw {

/// SearchTurns: the search over the turns of the calling agent.
Tool search_turns_tool(Threads& threads);

/// Tasks: replaces the list of tasks of the run's thread.
Tool tasks_tool(Threads& threads);

/// Whether a person or a search named the URL in the run's thread. The text by which another agent delegated its work
/// does not count.
Task<bool> is_url_named(Threads& threads, const ToolRun& run, WebUrl url);

}  // namespace agw
