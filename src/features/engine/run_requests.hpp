#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "features/engine/run_request.hpp"

namespace agw {

/// The requests of runs that have not ended.
class RunRequests {
public:
  void add(RunRequest run_request);
  void withdraw(const Run& run) { run_requests_.erase(run.id); }

  /// Null for a run that answers a person's message.
  std::shared_ptr<const RunRequest> of(const Run& run) const { return find(run.id); }
  std::shared_ptr<const RunRequest> find(std::string_view run_id) const;

  /// Notes why a run is being stopped, so that it ends as failed.
  void fail(const Run& run, std::string why) { failures_[run.id] = std::move(why); }
  /// Turns the outcome of a stopped run into the failure that was noted for it, if any.
  void take_failure(const Run& run, RunOutcome& outcome);

  // These call the observer of the run's request, if any.
  Task<> notify_started(ActiveRunPointer active) const;
  Runs::AtEnd ending_of(const Run& run, const RunOutcome& outcome) const;
  /// The last call for a run: its request is removed.
  void notify_ended(const Run& run);

private:
  std::map<std::string, std::shared_ptr<const RunRequest>, std::less<>> run_requests_;  ///< by run
  std::map<std::string, std::string, std::less<>> failures_;                            ///< by run
};

}  // namespace agw
