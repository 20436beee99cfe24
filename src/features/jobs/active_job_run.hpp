#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/async/assert.hpp"
#include "features/events/types.hpp"
#include "features/extensions/types.hpp"
#include "features/jobs/plan.hpp"
#include "features/jobs/types.hpp"
#include "features/runs/service.hpp"

namespace agw {

/// The reason and the parameters for starting a run of a job.
struct JobOrder {
  JobRunTrigger trigger = JobRunTrigger::manual;
  bool dry = false;
  std::optional<Timestamp> due_at{};
  std::optional<std::string> attached_data{};  ///< the trigger's data, as text
  int depth = 0;                               ///< length of the chain of events that led to it
  std::set<std::string> callers{};  ///< ids of the jobs whose agents requested it, directly or through others
  json::object inherited{};         ///< limits of the run whose agent requested it: see ToolRun
  std::string ordering_run_id{};    ///< the id of that run; empty: no agent requested it
};

/// A queued or active run of a job.
struct ActiveJobRun {
  ActiveJobRun(ExtensionPointer ordered, JobOrder by) : job(std::move(ordered)), plan(*job), order(std::move(by)) {}

  ExtensionPointer job;  ///< as of when the run was requested
  JobPlan plan;          ///< of `job`
  JobOrder order;
  JobRun run;
  ActiveRunPointer active;  ///< null until its thread is known
  bool stop_requested = false;
  bool has_row = false;           ///< its row was stored before its precheck
  std::string precheck_output{};  ///< to append to its prompt
  std::string problem{};          ///< why its prompt cannot be read; empty: it can
  StopSource precheck_stop;       ///< ends its precheck
  StopSource placed;              ///< requested when it is in the queue of a thread, and when it has ended
  StopSource over;                ///< requested when it has ended
};
using ActiveJobRunPointer = std::shared_ptr<ActiveJobRun>;

/// The cause of the events that the run causes.
inline EventCause cause_of(const ActiveJobRun& run) {
  EventCause cause{run.order.callers, run.order.depth + 1};
  cause.job_ids.insert(run.job->id);
  return cause;
}

/// All queued and active runs. A run is added before its row is written, so that the second of two simultaneous starts
/// sees the first.
class ActiveJobRuns {
public:
  void add(const ActiveJobRunPointer& run) {
    AGW_ASSERT(!run->run.id.empty());
    AGW_ASSERT(run->run.job_id == run->job->id);
    AGW_ASSERT(!run->placed.requested());
    AGW_ASSERT(!run->over.requested());
    by_job_[run->job->id].push_back(run);
  }
  void remove(const ActiveJobRunPointer& run) {
    const auto runs = by_job_.find(run->job->id);
    if (runs == by_job_.end()) return;
    std::erase(runs->second, run);
    if (runs->second.empty()) by_job_.erase(runs);
  }

  /// The runs of the job, oldest first.
  std::vector<ActiveJobRunPointer> of_job(const std::string& job_id) const {
    const auto runs = by_job_.find(job_id);
    return runs == by_job_.end() ? std::vector<ActiveJobRunPointer>{} : runs->second;
  }
  /// The runs of the same job that were added before `run`, oldest first.
  std::vector<ActiveJobRunPointer> ahead_of(const ActiveJobRunPointer& run) const {
    auto runs = of_job(run->job->id);
    runs.erase(std::ranges::find(runs, run), runs.end());
    return runs;
  }
  std::vector<ActiveJobRunPointer> all() const {
    std::vector<ActiveJobRunPointer> all;
    for (const auto& [job, runs] : by_job_) all.insert(all.end(), runs.begin(), runs.end());
    return all;
  }
  ActiveJobRunPointer find(std::string_view run_id) const {
    for (const auto& [job, runs] : by_job_) {
      for (const auto& run : runs) {
        if (run->run.id == run_id) return run;
      }
    }
    return nullptr;
  }

private:
  std::map<std::string, std::vector<ActiveJobRunPointer>> by_job_;
};

}  // namespace agw
