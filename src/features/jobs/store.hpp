#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "features/jobs/plan.hpp"
#include "features/jobs/types.hpp"
#include "storage/connection.hpp"

/// The SQL of job runs. Rows contain the name that the job had when they were written.
namespace agw::job_store {

/// Inserts the row. Returns false, and writes nothing, if another row has the run's due time.
bool insert(Connection& connection, const JobRun& run);

/// Throws Conflict `job is already running` if the job forbids concurrency and has a run on another node of the
/// cluster.
void check_free_elsewhere(Connection& connection, const std::string& job_id, JobConcurrency concurrency);

/// Whether a run of the job that was requested before this one has not ended on another node (not checked if the job
/// forbids concurrency), or another node answers on the thread. `run` may have no row yet.
bool is_behind_others(Connection& connection, const JobRun& run, JobConcurrency concurrency);
/// Notifies the other nodes, by the topic `job_stops`, to end the runs of the job that were requested before `run`.
void stop_elsewhere(Connection& connection, const JobRun& run);

/// Replaces the row of a run that was stored before its thread was chosen, unless the run has ended.
void replace(Connection& connection, const JobRun& run);

/// Marks a queued run as active since `now`.
void start(Connection& connection, const std::string& id, Timestamp now);

/// Stores the outcome of the run, unless it has already ended.
void end(Connection& connection, const JobRun& run);

/// Stores the usage so far of a run that has not ended: `usage` and `cost_usd` of its progress.
void record_spent(Connection& connection, const std::string& id, const json::object& progress);

/// Ends the runs that were queued or active when the gateway was killed. Returns how many it ended.
int end_interrupted(Connection& connection, Timestamp now);

std::optional<JobRun> find(Connection& connection, const std::string& id);

/// The runs of a job, newest first.
std::vector<JobRun> list(Connection& connection, const std::string& job_id, int limit);

/// The newest `limit` runs of all jobs that have not ended or ended after `since`, without skipped ones, newest first.
std::vector<JobRun> recent(Connection& connection, Timestamp since, int limit);

/// The job's runs that completed after `since`, newest first.
std::vector<JobRun> completed(Connection& connection, const std::string& job_id, Timestamp since, int limit);

/// How many runs of the job failed in a row, from the given one back to the last completed one; counts up to `limit`.
int failures_in_a_row(Connection& connection, const std::string& job_id, const std::string& run_id, int limit);

/// By job: the latest due time that has or had a row, or the start of the schedule if that was later.
std::map<std::string, Timestamp> latest_due_times(Connection& connection);
/// Marks due times up to `due_at` as handled.
void remember_due_time(Connection& connection, const std::string& job_id, Timestamp due_at);
/// Sets latest due times after `now` back to it, because the clock had been ahead.
void set_due_times_back(Connection& connection, Timestamp now);
void forget_due_times(Connection& connection, const std::string& job_id);

/// The job's own thread, as last stored; it may have been deleted since.
std::optional<std::string> own_thread(Connection& connection, const std::string& job_id);
/// Whether the thread is the own thread of any job.
bool is_own_thread(Connection& connection, const std::string& thread_id);
void remember_own_thread(Connection& connection, const std::string& job_id, const std::string& thread_id);
void forget_own_thread(Connection& connection, const std::string& job_id);

/// Deletes up to `limit` runs that ended before `oldest`. Returns how many it deleted.
int purge(Connection& connection, Timestamp oldest, int limit);

}  // namespace agw::job_store
