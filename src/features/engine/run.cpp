// The story of a run: choose the model, have it answer (answering.cpp), store the answer, say that it ended.

#include "api/refusals.hpp"
#include "base/json_member.hpp"
#include "base/log_ids.hpp"
#include "features/engine/service.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr auto pause_before_saving_again = 1s;

/// Why the agent cannot answer any more, although it could when it was asked; empty where it can.
std::string_view what_keeps(const ExtensionPointer& agent, const JobTurn* job_turn) {
  if (!agent) return "the agent was deleted before it could answer";
  if (agent->enabled || (job_turn && job_turn->even_disabled)) return "";
  return "the agent was disabled before it could answer";
}

}  // namespace

Task<> Engine::answer(ActiveRunPointer active) {
  active->began = std::chrono::steady_clock::now();
  RunOutcome outcome;
  try {
    co_await produce(active, outcome);
  } catch (const std::exception& error) {
    log::error({.run = active->run.id}, "{}", error.what());
    outcome.finish_reason = "error";
    outcome.error = internal_error;
    outcome.partial = !active->log.content().empty() || !outcome.steps.empty();
  }
  take_failure(active->run, outcome);
  outcome.duration =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - active->began);
  if (!outcome.error.empty()) runs_.emit(*active, "error", {{"error", outcome.error}});
  const bool is_answered = outcome.finish_reason != "error" && !outcome.stopped;
  co_await save(active, std::move(outcome));
  if (is_answered && !stopping_.requested()) workers_.spawn(find_title(active->run));
}

Task<> Engine::produce(ActiveRunPointer active, RunOutcome& outcome) {
  outcome.stopped = active->stop.requested();
  if (outcome.stopped) co_return;
  const auto job_turn = job_turn_of(active->run);
  const auto agent = extensions_.find(active->run.agent_id);
  if (const auto problem = what_keeps(agent, job_turn.get()); !problem.empty()) {
    outcome.finish_reason = "error";
    outcome.error = problem;
    co_return;
  }
  if (job_turn && job_turn->answerer) {
    outcome = co_await answer_without_model(active, job_turn);
    co_return;
  }
  auto chosen = choose_models(active->run, *agent);
  outcome.model = chosen.model;
  if (chosen.problem.empty()) {
    co_await converse(active, agent, std::move(chosen.choices), outcome);
  } else {
    outcome.finish_reason = "error";
    outcome.error = chosen.problem;
  }
}

/// The model of the message, else the agent's, else the default; then the agent's fallbacks.
Engine::ChosenModels Engine::choose_models(const Run& run, const Extension& agent) const {
  const auto& definition = agent.definition.members();
  const auto wanted = string_member(run.order, "model").value_or(string_member(definition, "model").value_or(""));
  const auto resolved = models_.resolve(wanted);
  ChosenModels chosen;
  if (const auto* choice = std::get_if<ModelChoice>(&resolved)) {
    chosen.choices.push_back(*choice);
    chosen.model = choice->id();
  } else {
    chosen.model = wanted.empty() ? models_.default_model() : wanted;
    chosen.problem = std::get<NotConfigured>(resolved).message;
  }
  for (auto& fallback : models_.resolve_fallbacks(texts_of(definition, "fallback_models"))) {
    chosen.choices.push_back(fallback);
  }
  return chosen;
}

/// Stores the answer, whatever it takes: while the disk is full it is tried again, because it was promised.
Task<> Engine::save(ActiveRunPointer active, RunOutcome outcome) {
  for (;;) {
    std::string why;
    active->wants_room = false;
    try {
      if (co_await end(active, outcome)) {
        if (observer_) observer_(active->run, outcome);
        tell_ended(active->run);
      }
      co_return;
    } catch (const std::exception& error) {
      why = error.what();
      active->wants_room = dynamic_cast<const DiskFull*>(&error) != nullptr;
    }
    // Whoever waits for it may be told.
    active->ended.cancel();
    log::error({.run = active->run.id}, "cannot store the answer: {}", why);
    if (co_await pause(stopping_, pause_before_saving_again) != End::done) break;
  }
  // The next start finds the run unfinished and keeps what its checkpoints hold.
  runs_.withdraw(active);
}

Task<bool> Engine::end(ActiveRunPointer active, const RunOutcome& outcome) {
  const auto& run = active->run;
  const auto& content = active->log.content();
  Runs::Ending ending;
  ending.error = outcome.error;
  const bool nothing_to_store = outcome.stopped && content.empty() && outcome.steps.empty();
  if (outcome.stopped) {
    ending.status = RunStatus::stopped;
    ending.type = "stopped";
    ending.members["assistantTurnId"] = nothing_to_store ? json::value(nullptr) : json::value(run.assistant_turn_id);
  } else {
    ending.type = "finish";
    ending.members = finish_members(run, outcome);
  }
  auto at_end = ending_of(run, outcome);
  if (nothing_to_store) co_return co_await runs_.end(active, std::move(ending), std::move(at_end));

  const auto prepared = threads_.prepare({.thread_id = run.thread_id,
                                          .role = Role::assistant,
                                          .content = content,
                                          .metadata = turn_metadata(run, outcome),
                                          .id = run.assistant_turn_id,
                                          .in_reply_to = run.turn_id});
  auto added = std::make_shared<AddedTurn>();
  co_return co_await runs_.end(
      active, std::move(ending),
      [added, prepared, at_end](Connection& connection) {
        *added = Threads::insert_in(connection, prepared);
        at_end(connection);
      },
      [this, added] { threads_.announce(*added); });
}

}  // namespace agw
