#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "features/events/types.hpp"
#include "features/extensions/types.hpp"
#include "features/jobs/plan.hpp"
#include "features/jobs/types.hpp"
#include "features/runs/service.hpp"

namespace agw {

/// What starts a run of a job.
struct JobOrder {
  JobRunTrigger trigger = JobRunTrigger::manual;
  bool dry = false;
  std::optional<Timestamp> due_at{};
  std::optional<std::string> attached_data{};  ///< the trigger's data, as text
  int depth = 0;                               ///< the length of the chain of events that led to it
  std::set<std::string> callers{};             ///< ids of the jobs whose agents ordered it, directly or through others
  json::object inherited{};                    ///< of the run whose agent ordered it: see ToolRun
  std::string ordering_run_id{};               ///< that run; empty: no agent ordered it
};

/// A job's run that waits or is active.
struct ActiveJobRun {
  ActiveJobRun(ExtensionPointer ordered, JobOrder by) : job(std::move(ordered)), plan(*job), order(std::move(by)) {}

  ExtensionPointer job;  ///< as it was when the run was ordered
  JobPlan plan;          ///< its
  JobOrder order;
  JobRun run;
  ActiveRunPointer active;  ///< null until its thread is known
  bool stop_requested = false;
  bool has_row = false;           ///< its row was stored before its precheck
  std::string precheck_output{};  ///< for its prompt
  StopSource precheck_stop;       ///< ends its precheck
  StopSource placed;              ///< requested when it has its place on a thread, and when it has ended
  StopSource over;                ///< requested when it has ended
};
using ActiveJobRunPointer = std::shared_ptr<ActiveJobRun>;

/// The cause of events that the run causes.
inline EventCause cause_of(const ActiveJobRun& run) {
  EventCause cause{run.order.callers, run.order.depth + 1};
  cause.job_ids.insert(run.job->id);
  return cause;
}

/// All active runs. A run is added before anything of it is written, so two simultaneous starts see each other.
class ActiveJobRuns {
public:
  void add(const ActiveJobRunPointer& run) { by_job_[run->job->id].push_back(run); }
  void remove(const ActiveJobRunPointer& run) {
    const auto runs = by_job_.find(run->job->id);
    if (runs == by_job_.end()) return;
    std::erase(runs->second, run);
    if (runs->second.empty()) by_job_.erase(runs);
  }

  /// Oldest first.
  std::vector<ActiveJobRunPointer> of_job(const std::string& job_id) const {
    const auto runs = by_job_.find(job_id);
    return runs == by_job_.end() ? std::vector<ActiveJobRunPointer>{} : runs->second;
  }
  /// Those of its job that were added before it, oldest first.
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
