// The story of an answer: choose the model, gather what it is to read, stream what it says, store it, say that it
// ended.

#include "base/log.hpp"
#include "features/engine/context.hpp"
#include "features/engine/service.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr auto pause_before_saving_again = 1s;

std::vector<std::string> texts(const json::object& definition, std::string_view name) {
  std::vector<std::string> list;
  if (const auto* member = definition.if_contains(name); member && member->is_array()) {
    for (const auto& entry : member->get_array()) {
      if (entry.is_string()) list.emplace_back(entry.get_string());
    }
  }
  return list;
}

/// What the model reads instead of the question, where a command made something of it.
std::optional<std::string> expanded_text(const Run& run) {
  const auto text = string_member(run.order, "text");
  return text ? std::optional<std::string>(*text) : std::nullopt;
}

}  // namespace

Task<> Engine::answer(ActiveRunPointer active) {
  const auto began = std::chrono::steady_clock::now();
  RunOutcome outcome;
  try {
    outcome = co_await produce(*active);
  } catch (const std::exception& error) {
    log::error("run {}: {}", active->run.id, error.what());
    outcome.finish_reason = "error";
    outcome.error = "internal server error";
    outcome.partial = !active->log.content().empty();
  }
  outcome.duration = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began);
  if (!outcome.error.empty()) runs_.emit(*active, "error", {{"error", outcome.error}});
  co_await save(active, std::move(outcome));
}

Task<RunOutcome> Engine::produce(ActiveRun& active) {
  RunOutcome outcome;
  if (active.stop.requested()) {
    outcome.stopped = true;
    co_return outcome;
  }
  const auto agent = extensions_.find(active.run.agent_id);
  std::string problem;
  std::vector<ModelChoice> choices;
  if (agent)
    choices = choose_models(active.run, *agent, problem);
  else
    problem = "the agent was deleted before it could answer";
  if (!problem.empty()) {
    outcome.finish_reason = "error";
    outcome.error = problem;
    co_return outcome;
  }
  co_return co_await ask(active, *agent, std::move(choices));
}

/// The model of the message, else the agent's, else the default; then the agent's fallbacks.
std::vector<ModelChoice> Engine::choose_models(const Run& run, const Extension& agent, std::string& problem) const {
  const auto& definition = agent.definition.members();
  const auto wanted = string_member(run.order, "model").value_or(string_member(definition, "model").value_or(""));
  const auto resolved = models_.resolve(wanted);
  std::vector<ModelChoice> choices;
  if (const auto* choice = std::get_if<ModelChoice>(&resolved))
    choices.push_back(*choice);
  else
    problem = std::get<NotConfigured>(resolved).message;
  for (auto& fallback : models_.resolve_fallbacks(texts(definition, "fallback_models"))) choices.push_back(fallback);
  return choices;
}

Task<RunOutcome> Engine::ask(ActiveRun& active, const Extension& agent, std::vector<ModelChoice> choices) {
  const auto model = models_.info(choices.front());
  const auto limit = output_limit(agent, model);
  const auto turns = co_await threads_.context(active.run.thread_id, active.run.turn_id, context_budget(model, limit));
  auto request = model_request(agent, turns, expanded_text(active.run));
  request.max_output_tokens = limit;

  bool anything_came = false;
  const auto on_delta = [&](const Delta& delta) {
    if (delta.text.empty()) return;
    anything_came = true;
    if (delta.kind == Delta::Kind::text)
      runs_.text(active, delta.text);
    else
      runs_.reasoning(active, delta.text);
  };
  const auto answered = co_await answer_with_retries(std::move(choices), std::move(request), on_delta, active.stop);
  RunOutcome outcome;
  outcome.model = answered.id();
  take_over(outcome, answered.outcome, anything_came);
  outcome.cost_usd = models_.cost(answered.provider, answered.model, outcome.usage).value_or(0);
  co_return outcome;
}

/// Stores the answer, whatever it takes: while the disk is full it is tried again, because it was promised.
Task<> Engine::save(ActiveRunPointer active, RunOutcome outcome) {
  for (;;) {
    std::string why;
    try {
      co_await end(active, outcome);
      co_return;
    } catch (const std::exception& error) {
      why = error.what();
    }
    log::error("run {}: cannot store its answer: {}", active->run.id, why);
    if (co_await pause(stopping_, pause_before_saving_again) != End::done) break;
  }
  // The next start finds the run unfinished and keeps what its checkpoints hold.
  runs_.withdraw(active);
}

Task<bool> Engine::end(ActiveRunPointer active, const RunOutcome& outcome) {
  const auto& run = active->run;
  const auto& content = active->log.content();
  Runs::Ending ending;
  const bool nothing_to_store = outcome.stopped && content.empty();
  if (outcome.stopped) {
    ending.status = RunStatus::stopped;
    ending.type = "stopped";
    ending.members["assistantTurnId"] = nothing_to_store ? json::value(nullptr) : json::value(run.assistant_turn_id);
  } else {
    ending.type = "finish";
    ending.members = finish_members(run, outcome);
  }
  if (nothing_to_store) co_return co_await runs_.end(active, std::move(ending), {});

  const auto prepared = threads_.prepare({.thread_id = run.thread_id,
                                          .role = Role::assistant,
                                          .content = content,
                                          .metadata = turn_metadata(run, outcome),
                                          .id = run.assistant_turn_id,
                                          .in_reply_to = run.turn_id});
  auto added = std::make_shared<AddedTurn>();
  co_return co_await runs_.end(
      active, std::move(ending),
      [added, prepared](Connection& connection) { *added = Threads::insert_in(connection, prepared); },
      [this, added] { threads_.announce(*added); });
}

}  // namespace agw
