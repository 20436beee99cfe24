// Runs that one agent's run hands to another agent.

#include <fmt/format.h>

#include "base/id.hpp"
#include "features/engine/service.hpp"

namespace agw {

namespace {

/// A delegated run, and how it ended.
struct Delegated {
  Delegation delegation;
  RunOutcome outcome;
  std::string text;
};

RunFollower follower_of(const std::shared_ptr<Delegated>& delegated) {
  return {.started = [] {},
          .ending = [delegated](const RunOutcome& outcome) -> Runs::AtEnd {
            delegated->outcome = outcome;
            return {};
          },
          .ended = [] {}};
}

ThreadMode mode_for(const Extension& agent, const ToolRun& caller) {
  const auto own = string_member(agent.definition.members(), "mode");
  const auto callers = from_text<ThreadMode>(string_member(caller.handed_down, "mode").value_or(""));
  return delegate_mode(callers.value_or(ThreadMode::plan), own ? from_text<ThreadMode>(*own) : std::nullopt);
}

ToolOutcome result_of(const Extension& agent, const std::string& thread_id, const Delegated& delegated) {
  const auto& outcome = delegated.outcome;
  if (outcome.stopped) return {fmt::format("{} was stopped; what it did is in thread {}", agent.name, thread_id), true};
  if (outcome.error.empty() && outcome.finish_reason == "stop") return {delegated.text};
  const auto& why = outcome.error.empty() ? outcome.finish_reason : outcome.error;
  return {fmt::format("{} could not finish ({}); what it did is in thread {}\n\n{}", agent.name, why, thread_id,
                      delegated.text),
          true};
}

}  // namespace

Task<ToolOutcome> Engine::delegate(const ToolRun& caller, std::string agent_name, std::string task, Stop& stop) {
  const auto agent = services_.extensions.require_enabled_agent(agent_name);
  const auto mode = mode_for(*agent, caller);
  const auto delegated = std::make_shared<Delegated>();
  delegated->delegation = {
      .run_id = new_id(), .delegating_run_id = caller.run_id, .agent_id = agent->id, .thread_id = {}};
  // Its thread is told of while it is made.
  add_delegation(std::shared_ptr<const Delegation>(delegated, &delegated->delegation));
  const auto thread =
      co_await services_.threads.create({.agent_id = agent->id, .project_id = caller.project_id, .mode = mode});
  delegated->delegation.thread_id = thread.id;
  const auto active =
      open_job_run({.run_id = delegated->delegation.run_id,
                    .thread_id = thread.id,
                    .agent_id = agent->id,
                    .prompt = std::move(task),
                    .metadata = {{"delegated_by", caller.agent_name}, {"delegating_run_id", caller.run_id}},
                    .order = {{"mode", to_text(mode)}, {handed_down_member, caller.handed_down}},
                    .follower = follower_of(delegated)});
  co_await begin_job_run(active, {});
  Stop::Listener when_stopped(stop, [active] { active->stop.request(); });
  co_await until_ended(active);
  delegated->text = active->log.content();
  co_return result_of(*agent, thread.id, *delegated);
}

void Engine::add_delegation(const std::shared_ptr<const Delegation>& delegation) {
  std::erase_if(delegations_, [](const auto& known) { return known.expired(); });
  delegations_.push_back(delegation);
}

std::vector<std::shared_ptr<const Delegation>> Engine::delegations() const {
  std::vector<std::shared_ptr<const Delegation>> under_way;
  for (const auto& known : delegations_) {
    if (auto delegation = known.lock()) under_way.push_back(std::move(delegation));
  }
  return under_way;
}

}  // namespace agw
