// Which tools a model learns of beside those it was offered: deferred ones that it searches for, and all of them if it
// calls one that does not exist.

#include <algorithm>

#include <fmt/format.h>

#include "features/context/service.hpp"
#include "features/engine/call_runner.hpp"

namespace agw {

/// Names the tools, because models call those that they know from elsewhere.
std::string CallRunner::no_such_tool(const RunningAgent& caller, const RunClient* client, std::string_view name) const {
  std::string names;
  const auto add = [&names](std::string_view tool) { names += fmt::format("{}{}", names.empty() ? "" : ", ", tool); };
  for (const auto& tool : usable_tools(caller)) {
    const auto& known = tool->description.name;
    const bool is_offered =
        caller.deferred_tools ? !find_deferred(caller.deferred_tools, known) : known != find_tools_name;
    if (is_offered) add(known);
  }
  if (client) std::ranges::for_each(client->tools(), add, &ToolDescription::name);
  return fmt::format("there is no tool {}; the tools are: {}", name, names.empty() ? "none" : names);
}

std::function<Task<std::vector<ToolDescription>>(std::string)> CallRunner::tool_finder(RunningAgentPointer caller) {
  if (!caller->deferred_tools) return nullptr;
  return [this, caller = std::move(caller)](std::string query) { return find_tools(caller, std::move(query)); };
}

/// Searches only tools that the agent may still use.
Task<std::vector<ToolDescription>> CallRunner::find_tools(RunningAgentPointer caller, std::string query) {
  std::vector<ToolDescription> candidates;
  for (const auto& tool : usable_tools(*caller)) {
    if (find_deferred(caller->deferred_tools, tool->description.name)) candidates.push_back(tool->description);
  }
  co_return co_await blocking_.run([candidates = std::move(candidates), query = std::move(query)] {
    return search_tools(candidates, query, max_found_at_once);
  });
}

}  // namespace agw
