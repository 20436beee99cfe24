// Runs that jobs order: their turns, what they wait for, and who is told.

#include <memory>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "api/refusals.hpp"
#include "base/id.hpp"
#include "base/log_ids.hpp"
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
  auto active = runs_.open({.id = job_turn.run_id,
                            .thread_id = job_turn.thread_id,
                            .turn_id = new_id(),
                            .assistant_turn_id = new_id(),
                            .agent_id = job_turn.agent_id,
                            .order = job_turn.order});
  const auto id = job_turn.run_id;
  job_turns_[id] = std::make_shared<JobTurn>(std::move(job_turn));
  return active;
}

Task<> Engine::begin_job_run(ActiveRunPointer active, std::function<void(Connection&)> along) {
  const auto& job_turn = *job_turns_.at(active->run.id);
  std::optional<PreparedTurn> enclosure;
  if (job_turn.enclosure) {
    enclosure = threads_.prepare({.thread_id = job_turn.thread_id,
                                  .role = Role::system,
                                  .content = *job_turn.enclosure,
                                  .metadata = job_turn.metadata});
  }
  const auto prompt = threads_.prepare({.thread_id = job_turn.thread_id,
                                        .role = Role::user,
                                        .content = job_turn.prompt,
                                        .metadata = job_turn.metadata,
                                        .id = active->run.turn_id});
  try {
    const auto added = co_await database_.write([=, run = active->run, now = clock_.now()](Connection& connection) {
      if (along) along(connection);
      AddedTurns turns;
      if (enclosure) turns.enclosure = Threads::insert_in(connection, *enclosure);
      turns.prompt = Threads::insert_in(connection, prompt);
      Runs::record(connection, run, now);
      return turns;
    });
    if (added.enclosure) threads_.announce(*added.enclosure);
    threads_.announce(added.prompt);
    begin(active);
  } catch (...) {
    job_turns_.erase(active->run.id);
    runs_.withdraw(active);
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
  const auto job_turn = job_turn_of(active->run);
  if (!job_turn || active->stop.requested()) return;
  job_failures_[active->run.id] = std::move(why);
  active->stop.request();
}

std::shared_ptr<const JobTurn> Engine::job_turn_of(const Run& run) const {
  const auto found = job_turns_.find(run.id);
  return found == job_turns_.end() ? nullptr : found->second;
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
  const auto job_turn = job_turn_of(active->run);
  if (!job_turn || !job_turn->behind) co_return;
  for (const auto& other : job_turn->behind()) co_await cut(active->stop, no_limit, until_ended(other));
}

void Engine::tell_started(const ActiveRun& active) const {
  const auto job_turn = job_turn_of(active.run);
  if (job_turn && !active.stop.requested()) job_turn->follower.started();
}

void Engine::take_failure(const Run& run, RunOutcome& outcome) {
  const auto failure = job_failures_.extract(run.id);
  if (!failure || !outcome.stopped) return;
  outcome.stopped = false;
  outcome.finish_reason = "error";
  outcome.error = failure.mapped();
}

Runs::AtEnd Engine::ending_of(const Run& run, const RunOutcome& outcome) const {
  const auto job_turn = job_turn_of(run);
  auto of_job = job_turn ? job_turn->follower.ending(outcome) : Runs::AtEnd();
  return [of_job = std::move(of_job), spendings = outcome.spendings](Connection& connection) {
    Costs::record(connection, spendings);
    if (of_job) of_job(connection);
  };
}

void Engine::tell_ended(const Run& run) {
  const auto told = job_turns_.extract(run.id);
  if (told) told.mapped()->follower.ended();
}

Task<RunOutcome> Engine::answer_without_model(ActiveRunPointer active, std::shared_ptr<const JobTurn> job_turn) {
  RunOutcome outcome;
  outcome.model = job_turn->answerer_name;
  try {
    const auto text = co_await job_turn->answerer(active->stop);
    outcome.stopped = active->stop.requested();
    if (!text.empty()) runs_.text(*active, text);
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
