#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "features/engine/job_turn.hpp"

namespace agw {

/// The turns that jobs have ordered, by their runs, until those have ended.
class JobTurns {
public:
  void add(JobTurn job_turn);
  void withdraw(const Run& run) { job_turns_.erase(run.id); }

  /// Null for a run that a person's message has ordered.
  std::shared_ptr<const JobTurn> of(const Run& run) const;

  /// Why a run fails that is stopped for it.
  void fail(const Run& run, std::string why) { failures_[run.id] = std::move(why); }
  /// Makes the end of a run that was stopped for a failure that failure.
  void take_failure(const Run& run, RunOutcome& outcome);

  // What whoever has ordered the run is told; nothing for one of a person.
  void tell_started(const ActiveRun& active) const;
  Runs::AtEnd ending_of(const Run& run, const RunOutcome& outcome) const;
  /// The last that is told of the run, which is forgotten then.
  void tell_ended(const Run& run);

private:
  std::map<std::string, std::shared_ptr<const JobTurn>, std::less<>> job_turns_;  ///< by run
  std::map<std::string, std::string, std::less<>> failures_;                      ///< by run
};

}  // namespace agw
