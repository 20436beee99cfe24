#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "features/jobs/plan.hpp"
#include "features/jobs/types.hpp"
#include "storage/connection.hpp"

/// The SQL of job runs. Rows have the name that the job had at the time.
namespace agw::job_store {

/// Returns false, and writes nothing, if another row has the run's due time.
bool insert(Connection& connection, const JobRun& run);

/// Throws Conflict `job is already running` if the job forbids that and has a run at another node of the cluster.
void check_free_elsewhere(Connection& connection, const std::string& job_id, JobConcurrency concurrency);

/// Whether a run of the job that was ordered before this one has not ended at another node (unless the job forbids that
/// by itself), or another node answers on the thread. `run` may have no row yet.
bool is_behind_others(Connection& connection, const JobRun& run, JobConcurrency concurrency);
/// Tells the other nodes to end the runs of the job that were ordered before that one: topic `job_stops`.
void stop_elsewhere(Connection& connection, const JobRun& run);

/// Writes a run again whose row was stored before its thread was chosen, unless it has ended.
void replace(Connection& connection, const JobRun& run);

/// A waiting run became active at that time.
void start(Connection& connection, const std::string& id, Timestamp now);

/// Writes how the run ended, unless it has already ended.
void end(Connection& connection, const JobRun& run);

/// Writes the usage so far of a run that has not ended: `usage` and `cost_usd` of its progress.
void record_spent(Connection& connection, const std::string& id, const json::object& progress);

/// Ends the runs that were waiting or active when the gateway was killed. Returns how many.
int end_interrupted(Connection& connection, Timestamp now);

std::optional<JobRun> find(Connection& connection, const std::string& id);

/// Newest first.
std::vector<JobRun> list(Connection& connection, const std::string& job_id, int limit);

/// Of all jobs, newest first: the runs ordered since then that ran, run or wait.
std::vector<JobRun> recent(Connection& connection, Timestamp since, int limit);

/// The job's runs that completed after `since`, newest first.
std::vector<JobRun> completed(Connection& connection, const std::string& job_id, Timestamp since, int limit);

/// How many runs of the job failed in a row, from that one back to the last that completed; counts up to `limit`.
int failures_in_a_row(Connection& connection, const std::string& job_id, const std::string& run_id, int limit);

/// By job: the latest due time that has or had a row, or the start of its schedule, if that was later.
std::map<std::string, Timestamp> latest_due_times(Connection& connection);
/// Marks due times up to that one as handled.
void remember_due_time(Connection& connection, const std::string& job_id, Timestamp due_at);
/// Sets later ones back to `now`, because the clock was ahead.
void set_due_times_back(Connection& connection, Timestamp now);
void forget_due_times(Connection& connection, const std::string& job_id);

/// The job's own thread, as last stored; it may have been deleted since.
std::optional<std::string> own_thread(Connection& connection, const std::string& job_id);
void remember_own_thread(Connection& connection, const std::string& job_id, const std::string& thread_id);
void forget_own_thread(Connection& connection, const std::string& job_id);

/// Deletes up to `limit` runs that ended before `oldest`. Returns how many.
int purge(Connection& connection, Timestamp oldest, int limit);

}  // namespace agw::job_store
