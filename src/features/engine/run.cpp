// The story of a run: choose the model, have it answer (answering.cpp), store the answer, say that it ended.

#include "api/refusals.hpp"
#include "base/log_ids.hpp"
#include "features/engine/answering.hpp"
#include "features/engine/chosen_models.hpp"
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
  job_turns_.take_failure(active->run, outcome);
  outcome.duration =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - active->began);
  if (!outcome.error.empty()) services_.runs.emit(*active, "error", {{"error", outcome.error}});
  const bool is_answered = outcome.finish_reason != "error" && !outcome.stopped;
  co_await save(active, std::move(outcome));
  if (is_answered && !stopping_.requested()) workers_.spawn(titles_.find(active->run));
}

Task<> Engine::produce(ActiveRunPointer active, RunOutcome& outcome) {
  outcome.stopped = active->stop.requested();
  if (outcome.stopped) co_return;
  const auto job_turn = job_turns_.of(active->run);
  const auto agent = services_.extensions.find(active->run.agent_id);
  if (const auto problem = what_keeps(agent, job_turn.get()); !problem.empty()) {
    outcome.finish_reason = "error";
    outcome.error = problem;
    co_return;
  }
  if (job_turn && job_turn->answerer) {
    outcome = co_await answer_without_model(active, job_turn);
    co_return;
  }
  auto chosen = choose_models(services_.models, active->run, *agent);
  outcome.model = chosen.model;
  if (chosen.problem.empty()) {
    Answering answering(services_, limits_, active, agent, std::move(chosen.choices), outcome);
    co_await answering.run();
  } else {
    outcome.finish_reason = "error";
    outcome.error = chosen.problem;
  }
}

/// Stores the answer, whatever it takes: while the disk is full it is tried again, because it was promised.
Task<> Engine::save(ActiveRunPointer active, RunOutcome outcome) {
  for (;;) {
    std::string why;
    active->wants_room = false;
    try {
      if (co_await end(active, outcome)) {
        if (observer_) observer_(active->run, outcome);
        job_turns_.tell_ended(active->run);
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
  services_.runs.withdraw(active);
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
  const auto at_end = [of_job = job_turns_.ending_of(run, outcome),
                       spendings = outcome.spendings](Connection& written) {
    Costs::record(written, spendings);
    if (of_job) of_job(written);
  };
  if (nothing_to_store) co_return co_await services_.runs.end(active, std::move(ending), at_end);

  const auto prepared = services_.threads.prepare({.thread_id = run.thread_id,
                                                   .role = Role::assistant,
                                                   .content = content,
                                                   .metadata = turn_metadata(run, outcome),
                                                   .id = run.assistant_turn_id,
                                                   .in_reply_to = run.turn_id});
  auto added = std::make_shared<AddedTurn>();
  co_return co_await services_.runs.end(
      active, std::move(ending),
      [added, prepared, at_end](Connection& connection) {
        *added = Threads::insert_in(connection, prepared);
        at_end(connection);
      },
      [this, added] { services_.threads.announce(*added); });
}

}  // namespace agw
