// Runs that jobs order: their turns, what they wait for, and who is told.

#include <memory>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "api/refusals.hpp"
#include "base/id.hpp"
#include "features/engine/service.hpp"

namespace agw {

namespace {

/// What the write of a job's turns left behind.
struct AddedTurns {
  std::optional<AddedTurn> enclosure;
  AddedTurn prompt;
};

}  // namespace

ActiveRunPointer Engine::open_job_run(JobTurn job_turn) {
  auto active = services_.runs.open({.id = job_turn.run_id,
                                     .thread_id = job_turn.thread_id,
                                     .turn_id = new_id(),
                                     .assistant_turn_id = new_id(),
                                     .agent_id = job_turn.agent_id,
                                     .order = job_turn.order});
  job_turns_.add(std::move(job_turn));
  return active;
}

Task<> Engine::begin_job_run(ActiveRunPointer active, std::function<void(Connection&)> along) {
  const auto job_turn = job_turns_.of(active->run);
  std::optional<PreparedTurn> enclosure;
  if (job_turn->enclosure) {
    enclosure = services_.threads.prepare({.thread_id = job_turn->thread_id,
                                           .role = Role::system,
                                           .content = *job_turn->enclosure,
                                           .metadata = job_turn->metadata});
  }
  const auto prompt = services_.threads.prepare({.thread_id = job_turn->thread_id,
                                                 .role = Role::user,
                                                 .content = job_turn->prompt,
                                                 .metadata = job_turn->metadata,
                                                 .id = active->run.turn_id});
  try {
    const auto added =
        co_await services_.database.write([=, run = active->run, now = services_.clock.now()](Connection& connection) {
          if (along) along(connection);
          AddedTurns turns;
          if (enclosure) turns.enclosure = Threads::insert_in(connection, *enclosure);
          turns.prompt = Threads::insert_in(connection, prompt);
          Runs::record(connection, run, now);
          return turns;
        });
    if (added.enclosure) services_.threads.announce(*added.enclosure);
    services_.threads.announce(added.prompt);
    begin(active);
  } catch (...) {
    job_turns_.withdraw(active->run);
    services_.runs.withdraw(active);
    throw;
  }
}

void Engine::end_soon(const ActiveRunPointer& active) {
  active->stop.request();
  if (!active->recorded || active->started) return;
  // It ends at once, out of its turn, or it would be under way until the run before it has ended.
  active->started = true;
  workers_.spawn(answer(active));
}

Task<> Engine::stop_run(ActiveRunPointer active) {
  end_soon(active);
  co_await until_ended(active, WithoutRoom::refuse);
}

void Engine::fail_run(const ActiveRunPointer& active, std::string why) {
  if (!job_turns_.of(active->run) || active->stop.requested()) return;
  job_turns_.fail(active->run, std::move(why));
  active->stop.request();
}

Task<> Engine::until_ended(ActiveRunPointer active, WithoutRoom without_room) {
  boost::system::error_code ignored;
  while (!active->has_ended) {
    if (active->wants_room && without_room == WithoutRoom::refuse) throw disk_full();
    co_await active->ended.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
}

/// Waits for the runs that are to end first. A run that is stopped meanwhile waits no longer.
Task<> Engine::wait_for_others(ActiveRunPointer active) {
  const auto job_turn = job_turns_.of(active->run);
  if (!job_turn || !job_turn->behind) co_return;
  for (const auto& other : job_turn->behind()) co_await cut(active->stop, no_limit, until_ended(other));
}

Task<RunOutcome> Engine::answer_without_model(ActiveRunPointer active, std::shared_ptr<const JobTurn> job_turn) {
  RunOutcome outcome;
  outcome.model = job_turn->answerer_name;
  try {
    const auto text = co_await job_turn->answerer(active->stop);
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
