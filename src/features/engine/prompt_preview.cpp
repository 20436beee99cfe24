// The prompt as people see it, composed of the same parts as that of a run (agent_loop.cpp).

#include <algorithm>

#include "base/containers.hpp"
#include "base/json/json_values.hpp"
#include "features/engine/chosen_models.hpp"
#include "features/engine/service.hpp"
#include "features/permissions/service.hpp"

namespace agw {

namespace {

/// A new thread of the agent, with default values.
Thread new_thread_of(const Extension& agent) {
  Thread thread;
  thread.mode = enum_member(agent.definition.members(), "mode", thread.mode);
  return thread;
}

PromptTool prompt_tool(ToolDescription tool) {
  return {.name = tool.name,
          .tokens = estimated_tokens(tool),
          .description = std::move(tool.description),
          .input_schema = tool.input_schema->is_object() ? tool.input_schema->get_object() : json::object()};
}

constexpr std::int64_t assumed_window = 128'000;

/// The window of the model that would answer a message that names no model.
std::int64_t window_of_first(const Models& models, const Extension& agent) {
  const auto chosen = choose_models(models, Run{}, agent);
  return chosen.choices.empty() ? assumed_window : models.info(chosen.choices.front()).context_window;
}

/// The number of deferred tools that no search of the thread has found.
std::int64_t deferred_count(const RequestTools& tools) {
  if (!tools.deferred) return 0;
  return std::ranges::count_if(
      *tools.deferred, [&](const auto& tool) { return !contains(tools.offered, tool.name, &ToolDescription::name); });
}

}  // namespace

Task<AgentPrompt> Engine::prompt(ExtensionPointer agent, AgentPromptQuery query) {
  auto thread = new_thread_of(*agent);
  if (query.thread_id) thread = co_await services_.threads.require(*query.thread_id);
  AgentPrompt prompt{.agent = agent->name, .mode = query.mode.value_or(thread.mode)};
  const auto limits = agent_limits(*agent, services_.extensions, services_.prompts.roots(*agent, thread.project_id));
  RunningAgent caller{.agent = agent, .mode = prompt.mode, .limits = limits};
  caller.run.thread_id = thread.id;
  // A run that answers a message of this thread would ask in it.
  caller.asks_thread = thread.id;
  caller.asks_permission = services_.approvals.asks(*agent);
  co_await services_.calls.wait_for_integrations(caller, stopping_);
  auto tools = divide_tools(services_.calls.usable_tools(caller), window_of_first(services_.models, *agent));
  prompt.sections = co_await services_.prompts.sections(agent, thread.project_id, prompt.mode,
                                                        services_.calls.offers(caller, read_skill_tool_name),
                                                        std::move(tools.listing));
  prompt.text = prompt_text(prompt.sections);
  if (tools.deferred && query.thread_id) {
    const auto found = co_await services_.database.read(
        [thread_id = thread.id](Connection& connection) { return found_tools(connection, thread_id); });
    auto tokens = tools.tokens;
    offer_found(tools.offered, tokens, tools, found);
  }
  prompt.tools_deferred = deferred_count(tools);
  for (auto& tool : tools.offered) {
    auto& shown_tool = prompt.tools.emplace_back(prompt_tool(std::move(tool)));
    shown_tool.why = services_.calls.why_offered(caller, shown_tool.name);
    prompt.tool_tokens += shown_tool.tokens;
  }
  prompt.tools_offered = static_cast<std::int64_t>(prompt.tools.size());
  prompt.tokens = estimated_tokens(prompt.text) + prompt.tool_tokens;
  co_return prompt;
}

}  // namespace agw
