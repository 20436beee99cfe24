// The stages of a run: choose the model, have it answer (agent_loop.cpp), store the answer, report the end.

#include <fmt/format.h>
#include <boost/asio/post.hpp>

#include "api/failure.hpp"
#include "base/async/assert.hpp"
#include "base/log_ids.hpp"
#include "features/engine/agent_loop.hpp"
#include "features/engine/chosen_models.hpp"
#include "features/engine/service.hpp"
#include "models/catalog.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr auto pause_before_saving_again = 1s;

/// Why the agent can no longer answer, although it could when the message was accepted; empty if it can.
std::string_view why_unavailable(const ExtensionPointer& agent, const RunRequest* run_request) {
  if (!agent) return "the agent was deleted before it could answer";
  if (agent->enabled || (run_request && run_request->allows_disabled_agent)) return "";
  return "the agent was disabled before it could answer";
}

Runs::Ending ending_of(const Run& run, const RunOutcome& outcome, bool has_turn) {
  if (!outcome.stopped) return {.type = "finish", .members = finish_members(run, outcome), .error = outcome.error};
  return {.status = RunStatus::stopped,
          .type = "stopped",
          .members = {{"assistantTurnId", has_turn ? json::value(run.assistant_turn_id) : json::value(nullptr)}},
          .error = outcome.error};
}

/// Stored thoughts become useless once another model has answered. An answer of the offline provider does not count.
bool has_model_answered(const RunOutcome& outcome) {
  return outcome.error.empty() && !outcome.model.starts_with(fmt::format("{}/", offline_provider));
}

}  // namespace

Task<> Engine::answer(ActiveRunPointer active) {
  AGW_ASSERT(active->recorded);
  AGW_ASSERT(active->started);
  AGW_ASSERT(!active->is_ending);
  AGW_ASSERT(!active->ended.happened());
  co_await run_requests_.notify_started(active);
  active->began = std::chrono::steady_clock::now();
  RunOutcome outcome;
  try {
    co_await produce(active, outcome);
  } catch (const std::exception& error) {
    log::error({.run = active->run.id}, "{}", error.what());
    outcome.finish_reason = "error";
    outcome.error = as_failure(std::current_exception()).error.error();
    outcome.partial = !active->log.content().empty() || !outcome.steps.empty();
  }
  AGW_DEBUG_ASSERT(!outcome.stopped || active->stop.requested());
  run_requests_.take_failure(active->run, outcome);
  outcome.duration =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - active->began);
  if (!outcome.error.empty()) services_.runs.emit(*active, "error", {{"error", outcome.error}});
  co_await services_.approvals.end_those_of(active);
  const bool is_answered = outcome.finish_reason != "error" && !outcome.stopped;
  co_await save(active, std::move(outcome));
  if (is_answered && !stopping_.requested()) workers_.spawn(titles_.find(active->run));
}

Task<> Engine::produce(ActiveRunPointer active, RunOutcome& outcome) {
  AGW_ASSERT(active->started);
  AGW_ASSERT(outcome.steps.empty());
  AGW_ASSERT(outcome.model_calls.empty());
  outcome.stopped = active->stop.requested();
  if (outcome.stopped) co_return;
  services_.runs.announce_start(*active);
  const auto run_request = run_requests_.of(active->run);
  const auto agent = services_.extensions.find(active->run.agent_id);
  if (const auto problem = why_unavailable(agent, run_request.get()); !problem.empty()) {
    outcome.finish_reason = "error";
    outcome.error = problem;
    co_return;
  }
  if (run_request && run_request->answerer) {
    outcome = co_await answer_without_model(active, run_request);
    co_return;
  }
  auto chosen = choose_models(services_.models, active->run, *agent);
  if (active->client) drop_incapable_fallbacks(chosen, active->client->settings());
  outcome.model = chosen.model;
  if (chosen.problem.empty()) {
    AgentLoop agent_loop(services_, limits_, active, agent, std::move(chosen.choices), run_of_person(active), outcome);
    co_await agent_loop.run();
  } else {
    outcome.finish_reason = "error";
    outcome.error = chosen.problem;
  }
}

/// Stores the answer. Retries while the disk is full: the message was acknowledged, so its answer must not be lost.
Task<> Engine::save(ActiveRunPointer active, RunOutcome outcome) {
  for (;;) {
    std::string why;
    active->waits_for_disk_space = false;
    try {
      if (co_await end(active, outcome)) {
        watch_provider(active->run, outcome);
        run_requests_.notify_ended(active->run);
      }
      co_return;
    } catch (const DiskFull& error) {
      why = error.what();
      active->waits_for_disk_space = true;
    } catch (const std::exception& error) {
      why = error.what();
    }
    // Wakes callers that wait for the end, so that they can report the full disk.
    active->ended.pulse();
    log::error({.run = active->run.id}, "cannot store the answer: {}", why);
    if (co_await pause(stopping_, pause_before_saving_again) != WaitResult::done) break;
  }
  // The next start finds the run unfinished, and keeps the text of its checkpoints.
  services_.runs.withdraw(active);
}

void Engine::watch_provider(const Run& run, const RunOutcome& outcome) const {
  const bool is_of_provider = outcome.provider_failed || outcome.error.empty();
  if (outcome.stopped || !is_of_provider) return;
  const auto provider = outcome.model.substr(0, outcome.model.find('/'));
  services_.alerts.answered({provider, outcome.error, cause_of(run.id)});
}

Task<bool> Engine::end(ActiveRunPointer active, const RunOutcome& outcome) {
  const auto& run = active->run;
  AGW_ASSERT(!run.assistant_turn_id.empty());
  AGW_ASSERT(run.assistant_turn_id != run.turn_id);
  const bool has_turn = !outcome.stopped || !active->log.content().empty() || !outcome.steps.empty();
  const auto at_end = [of_observer = run_requests_.ending_of(run, outcome),
                       spendings = outcome.spendings](Connection& written) {
    AGW_ASSERT(written.in_transaction());
    Costs::record(written, spendings);
    if (of_observer) of_observer(written);
  };
  auto ending = ending_of(run, outcome, has_turn);
  if (has_turn) co_return co_await end_with_turn(active, outcome, std::move(ending), at_end);
  co_return co_await services_.runs.end(active, std::move(ending), at_end);
}

Task<bool> Engine::end_with_turn(ActiveRunPointer active, const RunOutcome& outcome, Runs::Ending ending,
                                 Runs::AtEnd at_end) {
  const auto& run = active->run;
  const auto prepared =
      services_.threads.prepare({.thread_id = run.thread_id,
                                 .role = Role::assistant,
                                 .metadata = turn_metadata(run, outcome, active->log.reasoning_content()),
                                 .id = run.assistant_turn_id,
                                 .in_reply_to = run.turn_id});
  AGW_ASSERT(prepared.turn.id == run.assistant_turn_id);
  auto added = std::make_shared<AddedTurn>();
  const bool stores_thoughts = has_model_answered(outcome) || !outcome.thoughts.empty();
  co_return co_await services_.runs.end(
      active, std::move(ending),
      [added, prepared, active, at_end, stores_thoughts, model = outcome.model,
       thoughts = outcome.thoughts](Connection& connection) {
        // Copied on this thread, because copying a long answer would block the loop. The log no longer changes.
        AGW_ASSERT(active->is_ending);
        auto turn = prepared;
        turn.turn.content = active->log.content();
        *added = Threads::insert_in(connection, std::move(turn));
        if (stores_thoughts)
          store_thoughts(connection, active->run.thread_id, active->run.assistant_turn_id, model, thoughts);
        at_end(connection);
      },
      [this, added, active] {
        // The transaction has run to its end.
        AGW_ASSERT(added->turn.id == active->run.assistant_turn_id);
        AGW_ASSERT(added->thread.id == active->run.thread_id);
        services_.threads.announce(*added);
        // Freeing a long answer takes milliseconds, so each copy is freed in a callback of its own.
        asio::post(services_.loop, [content = std::move(added->turn.content)] {});
      });
}

}  // namespace agw
