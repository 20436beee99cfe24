// Runs that other rooms request: storing their turns, waiting for other runs, and ending them.

#include <memory>

#include "api/refusals.hpp"
#include "base/async/assert.hpp"
#include "base/id.hpp"
#include "features/engine/service.hpp"

namespace agw {

namespace {

/// The turns that the write of a run request inserted.
struct AddedTurns {
  std::optional<AddedTurn> attached_data;
  AddedTurn prompt;
};

}  // namespace

ActiveRunPointer Engine::open_run(RunRequest run_request) {
  // `run_of_person` follows the chain to its end.
  AGW_ASSERT(run_request.ordering_run_id != run_request.run_id);
  auto active = services_.runs.open({.id = run_request.run_id,
                                     .thread_id = run_request.thread_id,
                                     .turn_id = new_id(),
                                     .assistant_turn_id = new_id(),
                                     .agent_id = run_request.agent_id,
                                     .order = run_request.order});
  run_requests_.add(std::move(run_request));
  return active;
}

Task<> Engine::begin_run(ActiveRunPointer active, std::function<void(Connection&)> in_transaction) {
  const auto run_request = run_requests_.of(active->run);
  AGW_ASSERT(run_request);
  AGW_ASSERT(run_request->thread_id == active->run.thread_id);
  AGW_ASSERT(!active->recorded);
  std::optional<PreparedTurn> attached_data;
  if (run_request->attached_data) {
    attached_data = services_.threads.prepare({.thread_id = run_request->thread_id,
                                               .role = Role::system,
                                               .content = *run_request->attached_data,
                                               .metadata = run_request->metadata});
  }
  const auto prompt = services_.threads.prepare({.thread_id = run_request->thread_id,
                                                 .role = Role::user,
                                                 .content = run_request->prompt,
                                                 .metadata = run_request->metadata,
                                                 .id = active->run.turn_id});
  try {
    const auto added =
        co_await services_.database.write([=, run = active->run, now = services_.clock.now()](Connection& connection) {
          if (in_transaction) in_transaction(connection);
          AddedTurns turns;
          if (attached_data) turns.attached_data = Threads::insert_in(connection, *attached_data);
          turns.prompt = Threads::insert_in(connection, prompt);
          AGW_ASSERT(turns.prompt.turn.id == run.turn_id);
          Runs::record(connection, run, now);
          return turns;
        });
    if (added.attached_data) services_.threads.announce(*added.attached_data);
    services_.threads.announce(added.prompt);
    begin(active);
  } catch (...) {
    run_requests_.withdraw(active->run);
    withdraw(active);
    throw;
  }
}

void Engine::end_soon(const ActiveRunPointer& active) {
  active->stop.request();
  if (!active->recorded || active->started) return;
  // End it at once, out of order: otherwise it would stay active until the run before it ends.
  active->started = true;
  workers_.spawn(answer(active));
}

Task<> Engine::stop_run(ActiveRunPointer active) {
  end_soon(active);
  co_await until_ended(active, OnFullDisk::refuse);
}

void Engine::fail_run(const ActiveRunPointer& active, std::string why) {
  if (!run_requests_.of(active->run) || active->stop.requested()) return;
  run_requests_.fail(active->run, std::move(why));
  active->stop.request();
}

Task<> Engine::until_ended(ActiveRunPointer active, OnFullDisk on_full_disk) {
  while (!active->ended.happened()) {
    if (active->waits_for_disk_space && on_full_disk == OnFullDisk::refuse) throw disk_full();
    co_await active->ended.wait();
  }
}

/// Waits for the runs that must end first, or until the run is stopped.
Task<> Engine::wait_for_others(ActiveRunPointer active) {
  const auto run_request = run_requests_.of(active->run);
  if (!run_request || !run_request->runs_before) co_return;
  for (const auto& other : run_request->runs_before())
    co_await with_timeout(active->stop, no_limit, until_ended(other));
}

Task<RunOutcome> Engine::answer_without_model(ActiveRunPointer active, std::shared_ptr<const RunRequest> run_request) {
  AGW_ASSERT(run_request->answerer);
  AGW_ASSERT(active->log.content().empty());
  RunOutcome outcome;
  outcome.model = run_request->answerer_name;
  try {
    const auto text = co_await run_request->answerer(active->stop);
    outcome.stopped = active->stop.requested();
    if (!text.empty()) services_.runs.text(*active, text);
  } catch (const ApiError& error) {
    outcome.finish_reason = "error";
    outcome.error = text_with_details(error);
  } catch (const std::exception& error) {
    outcome.finish_reason = "error";
    outcome.error = error.what();
  }
  outcome.partial = outcome.stopped;
  co_return outcome;
}

}  // namespace agw
