#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "features/jobs/types.hpp"
#include "storage/connection.hpp"

/// The SQL of job runs. Their jobs have the names of then.
namespace agw::job_store {

/// False where the run's due time belongs to another row; then nothing is written.
bool insert(Connection& connection, const JobRun& run);

/// A run that was waiting is under way since then.
void start(Connection& connection, const std::string& id, Timestamp now);

/// Writes how the run ended, unless it had.
void end(Connection& connection, const JobRun& run);

/// What a run that has not ended had used: `usage` and `cost_usd` of its progress.
void note_spent(Connection& connection, const std::string& id, const json::object& progress);

/// Ends what a killed gateway left waiting or under way. How many there were.
int end_interrupted(Connection& connection, Timestamp now);

std::optional<JobRun> find(Connection& connection, const std::string& id);

/// Newest first.
std::vector<JobRun> list(Connection& connection, const std::string& job_id, int limit);

/// Of all jobs, newest first: what was ordered since then and did run or is to.
std::vector<JobRun> recent(Connection& connection, Timestamp since, int limit);

/// The job's runs that completed after `since`, newest first.
std::vector<JobRun> completed(Connection& connection, const std::string& job_id, Timestamp since, int limit);

/// How many runs of the job failed in a row, that one back to the last that completed; counted up to `limit`.
int failures_in_a_row(Connection& connection, const std::string& job_id, const std::string& run_id, int limit);

/// By job: the latest due time that has, or had, a row, or when its schedule began to count, whichever was later.
std::map<std::string, Timestamp> latest_due_times(Connection& connection);
/// Due times up to that one are dealt with.
void remember_due_time(Connection& connection, const std::string& job_id, Timestamp due_at);
/// None is later than `now`: the clock was ahead.
void set_due_times_back(Connection& connection, Timestamp now);
void forget_due_times(Connection& connection, const std::string& job_id);

/// The thread that the job has for itself, as it was remembered; it may have been deleted since.
std::optional<std::string> own_thread(Connection& connection, const std::string& job_id);
void remember_own_thread(Connection& connection, const std::string& job_id, const std::string& thread_id);
void forget_own_thread(Connection& connection, const std::string& job_id);

/// Removes up to `limit` runs that ended before `oldest`; how many there were.
int purge(Connection& connection, Timestamp oldest, int limit);

}  // namespace agw::job_store
