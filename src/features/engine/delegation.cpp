// Tasks that one agent's run delegates to another agent.

#include <algorithm>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/id.hpp"
#include "base/json/json_values.hpp"
#include "features/engine/service.hpp"

namespace agw {

namespace {

/// A delegated run, and how it ended.
struct DelegatedRun : RunObserver {
  Runs::AtEnd ending(const RunOutcome& how) override {
    outcome = how;
    return {};
  }

  Delegation delegation;
  RunOutcome outcome;
  std::string text;
};

ThreadMode mode_for(const Extension& agent, const ToolRun& caller) {
  const auto own = string_member(agent.definition.members(), "mode");
  const auto callers = from_text<ThreadMode>(string_member(caller.inherited, "mode").value_or(""));
  return delegate_mode(callers.value_or(ThreadMode::plan), own ? from_text<ThreadMode>(*own) : std::nullopt);
}

ToolOutcome result_of(const Extension& agent, const std::string& thread_id, const DelegatedRun& delegated) {
  const auto& outcome = delegated.outcome;
  if (outcome.stopped) return {fmt::format("{} was stopped; what it did is in thread {}", agent.name, thread_id), true};
  if (outcome.error.empty() && outcome.finish_reason == "stop") return {delegated.text};
  const auto& why = outcome.error.empty() ? outcome.finish_reason : outcome.error;
  return {fmt::format("{} could not finish ({}); what it did is in thread {}\n\n{}", agent.name, why, thread_id,
                      delegated.text),
          true};
}

}  // namespace

Task<ToolOutcome> Engine::delegate(const ToolRun& caller, std::string agent_name, std::string task, StopSource& stop) {
  const auto agent = services_.extensions.require_enabled_agent(agent_name);
  const auto mode = mode_for(*agent, caller);
  const auto delegated = std::make_shared<DelegatedRun>();
  delegated->delegation = {
      .run_id = new_id(), .delegating_run_id = caller.run_id, .agent_id = agent->id, .thread_id = {}};
  // Creating the thread publishes events about it, so the delegation must be known first.
  add_delegation(std::shared_ptr<const Delegation>(delegated, &delegated->delegation));
  const auto thread =
      co_await services_.threads.create({.agent_id = agent->id, .project_id = caller.project_id, .mode = mode});
  AGW_DEBUG_ASSERT(thread.agent_id == agent->id);
  delegated->delegation.thread_id = thread.id;
  const auto active = open_run({.run_id = delegated->delegation.run_id,
                                .thread_id = thread.id,
                                .agent_id = agent->id,
                                .prompt = std::move(task),
                                .metadata = {{"delegated_by", caller.agent_name}, {"delegating_run_id", caller.run_id}},
                                .order = {{"mode", to_text(mode)}, {inherited_limits_member, caller.inherited}},
                                .observer = delegated});
  co_await begin_run(active, {});
  StopSource::Listener when_stopped(stop, [active] { active->stop.request(); });
  co_await until_ended(active);
  delegated->text = active->log.content();
  co_return result_of(*agent, thread.id, *delegated);
}

void Engine::add_delegation(const std::shared_ptr<const Delegation>& delegation) {
  AGW_ASSERT(delegation);
  AGW_ASSERT(!delegation->run_id.empty());
  // `cause_of` and `run_of_person` follow the chain to its end.
  AGW_ASSERT(delegation->run_id != delegation->delegating_run_id);
  std::erase_if(delegations_, [](const auto& known) { return known.expired(); });
  delegations_.push_back(delegation);
}

std::vector<std::shared_ptr<const Delegation>> Engine::delegations() const {
  std::vector<std::shared_ptr<const Delegation>> active;
  for (const auto& known : delegations_) {
    if (auto delegation = known.lock()) active.push_back(std::move(delegation));
  }
  return active;
}

EventCause Engine::cause_of(std::string run_id) const {
  const auto active = delegations();
  for (;;) {
    const auto run_request = run_requests_.find(run_id);
    if (run_request && !run_request->cause.job_ids.empty()) return run_request->cause;
    const auto delegation = std::ranges::find(active, run_id, [](const auto& known) { return known->run_id; });
    if (delegation == active.end()) return {};
    run_id = (*delegation)->delegating_run_id;
  }
}

ActiveRunPointer Engine::run_of_person(const ActiveRunPointer& active) const {
  const auto open_delegations = delegations();
  for (auto run_id = active->run.id;;) {
    const auto run_request = run_requests_.find(run_id);
    if (run_request && !run_request->ordering_run_id.empty()) {
      run_id = run_request->ordering_run_id;
      continue;
    }
    if (run_request && !run_request->cause.job_ids.empty()) return nullptr;
    const auto delegation =
        std::ranges::find(open_delegations, run_id, [](const auto& known) { return known->run_id; });
    if (delegation != open_delegations.end()) {
      run_id = (*delegation)->delegating_run_id;
      continue;
    }
    if (run_request) return nullptr;
    const auto active_runs = services_.runs.all();
    const auto found = std::ranges::find(active_runs, run_id, [](const auto& run) { return run->run.id; });
    return found == active_runs.end() ? nullptr : *found;
  }
}

}  // namespace agw
