#include "features/engine/job_turns.hpp"

#include <utility>

namespace agw {

void JobTurns::add(JobTurn job_turn) {
  const auto id = job_turn.run_id;
  job_turns_[id] = std::make_shared<JobTurn>(std::move(job_turn));
}

std::shared_ptr<const JobTurn> JobTurns::of(const Run& run) const {
  const auto found = job_turns_.find(run.id);
  return found == job_turns_.end() ? nullptr : found->second;
}

void JobTurns::take_failure(const Run& run, RunOutcome& outcome) {
  const auto failure = failures_.extract(run.id);
  if (!failure || !outcome.stopped) return;
  outcome.stopped = false;
  outcome.finish_reason = "error";
  outcome.error = failure.mapped();
}

void JobTurns::tell_started(const ActiveRun& active) const {
  const auto job_turn = of(active.run);
  if (job_turn && !active.stop.requested()) job_turn->follower.started();
}

Runs::AtEnd JobTurns::ending_of(const Run& run, const RunOutcome& outcome) const {
  const auto job_turn = of(run);
  return job_turn ? job_turn->follower.ending(outcome) : Runs::AtEnd();
}

void JobTurns::tell_ended(const Run& run) {
  const auto told = job_turns_.extract(run.id);
  if (told) told.mapped()->follower.ended();
}

}  // namespace agw
