#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"
#include "features/costs/background_completions.hpp"
#include "features/events/hub.hpp"
#include "features/runs/service.hpp"
#include "features/threads/service.hpp"

namespace agw {

/// Limits the length of the threads of jobs: once one has more than `max_turns` turns, its older turns are summarised
/// for models and deleted. Threads of people keep all their turns, even if a job created them.
class ThreadRetention : private Subscriber {
public:
  /// Whether the thread is a job's own. Called inside a read.
  using IsJobsOwn = std::function<bool(Connection& connection, const std::string& thread_id)>;

  ThreadRetention(Loop& loop, Database& database, Hub& hub, const Clock& clock, const Runs& runs, Threads& threads,
                  BackgroundCompletions& completions, std::size_t max_turns, IsJobsOwn is_jobs_own);

  Task<> stop();

private:
  void deliver(const DomainEvent& event) override;
  Task<> wait_and_shorten(std::string thread_id);
  Task<> shorten(std::string thread_id);
  Task<std::string> sum_up(std::string earlier, std::vector<Turn> turns);

  Database& database_;
  const Clock& clock_;
  const Runs& runs_;
  Threads& threads_;
  BackgroundCompletions& completions_;
  const std::size_t max_turns_;
  const IsJobsOwn is_jobs_own_;
  std::map<std::string, bool, std::less<>> shortened_;  ///< threads being shortened; true: to be checked again
  StopSource stop_;
  TaskGroup group_;
  Hub::Listening listening_;
};

}  // namespace agw
