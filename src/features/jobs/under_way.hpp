#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "features/events/types.hpp"
#include "features/extensions/types.hpp"
#include "features/jobs/types.hpp"
#include "features/runs/service.hpp"

namespace agw {

/// A job's run that waits or is under way.
struct JobRunUnderWay {
  ExtensionPointer job;  ///< as it was when the run was ordered
  JobRun run;
  int depth = 0;                  ///< how many events led to it, one run after the other
  std::set<std::string> callers;  ///< the ids of the jobs whose agents ordered it, one by way of the other
  ActiveRunPointer active;        ///< none until its thread is known
  bool stop_wanted = false;
  Stop placed;  ///< requested when it has its place on a thread, and when it has ended
  Stop over;    ///< requested when it has ended
};
using JobRunUnderWayPointer = std::shared_ptr<JobRunUnderWay>;

/// What leads to an event that the run causes.
inline EventCause cause_of(const JobRunUnderWay& run) {
  EventCause cause{run.callers, run.depth + 1};
  cause.job_ids.insert(run.job->id);
  return cause;
}

/// All of them. A run is added before anything of it is written, so that two starts at once see each other.
class JobRunsUnderWay {
public:
  void add(const JobRunUnderWayPointer& run) { by_job_[run->job->id].push_back(run); }
  void remove(const JobRunUnderWayPointer& run) {
    const auto runs = by_job_.find(run->job->id);
    if (runs == by_job_.end()) return;
    std::erase(runs->second, run);
    if (runs->second.empty()) by_job_.erase(runs);
  }

  /// Oldest first.
  std::vector<JobRunUnderWayPointer> of_job(const std::string& job_id) const {
    const auto runs = by_job_.find(job_id);
    return runs == by_job_.end() ? std::vector<JobRunUnderWayPointer>{} : runs->second;
  }
  /// Those of its job that were added before it, oldest first.
  std::vector<JobRunUnderWayPointer> ahead_of(const JobRunUnderWayPointer& run) const {
    auto runs = of_job(run->job->id);
    runs.erase(std::ranges::find(runs, run), runs.end());
    return runs;
  }
  std::vector<JobRunUnderWayPointer> all() const {
    std::vector<JobRunUnderWayPointer> all;
    for (const auto& [job, runs] : by_job_) all.insert(all.end(), runs.begin(), runs.end());
    return all;
  }
  JobRunUnderWayPointer find(std::string_view run_id) const {
    for (const auto& [job, runs] : by_job_) {
      for (const auto& run : runs) {
        if (run->run.id == run_id) return run;
      }
    }
    return nullptr;
  }

private:
  std::map<std::string, std::vector<JobRunUnderWayPointer>> by_job_;
};

}  // namespace agw
