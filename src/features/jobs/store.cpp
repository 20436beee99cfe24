#include "features/jobs/store.hpp"

#include <fmt/format.h>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "storage/columns.hpp"

namespace agw::job_store {

namespace {

constexpr auto columns = columns_of<JobRun>(
    Column{"id", &JobRun::id}, Column{"job_id", &JobRun::job_id}, Column{"job", &JobRun::job},
    Column{"thread_id", &JobRun::thread_id}, Column{"\"trigger\"", &JobRun::trigger, JobRunTrigger::manual},
    Column{"dry", &JobRun::dry}, Column{"status", &JobRun::status, JobRunStatus::interrupted},
    Column{"due_at", &JobRun::due_at}, Column{"started_at", &JobRun::started_at},
    Column{"finished_at", &JobRun::finished_at}, Column{"error", &JobRun::error}, Column{"usage", &JobRun::usage},
    Column{"cost_usd", &JobRun::cost_usd});

JobRun read(const Statement& row) {
  auto run = columns.read(row);
  if (run.started_at && run.finished_at) run.duration_ms = (*run.finished_at - *run.started_at).count();
  return run;
}

std::string select(std::string_view rest) { return fmt::format("SELECT {} FROM job_runs {}", columns.names(), rest); }

/// What holds for every row that is written.
void assert_row(const JobRun& run) {
  AGW_ASSERT(!run.id.empty());
  AGW_ASSERT(!run.job_id.empty());
  AGW_ASSERT(run.finished_at.has_value() == !is_open(run.status));
  AGW_ASSERT(run.started_at || run.status != JobRunStatus::started);
  AGW_ASSERT(!run.due_at || run.trigger == JobRunTrigger::cron);
}

/// Only updates an existing row: without one, the job's schedule was removed before this run, so it can miss no times.
void pass_due_time(Connection& connection, const std::string& job_id, Timestamp due_at) {
  connection.prepare("UPDATE job_due_times SET latest = :due_at WHERE job_id = :job_id AND latest < :due_at")
      .bind(":job_id", job_id)
      .bind(":due_at", due_at)
      .run();
}

}  // namespace

bool insert(Connection& connection, const JobRun& run) {
  assert_row(run);
  static const auto sql =
      columns.insert_into("job_runs") + " ON CONFLICT (job_id, due_at) WHERE due_at IS NOT NULL DO NOTHING";
  auto statement = connection.prepare(sql);
  columns.bind(statement, run).run();
  if (connection.changes() == 0) return false;
  if (run.due_at) pass_due_time(connection, run.job_id, *run.due_at);
  return true;
}

void check_free_elsewhere(Connection& connection, const std::string& job_id, JobConcurrency concurrency) {
  if (concurrency != JobConcurrency::forbid) return;
  auto row =
      connection.prepare(Sql{.sqlite = "SELECT 1 FROM job_runs WHERE 0 AND job_id = :job",
                             .postgres = "SELECT 1 FROM job_runs WHERE job_id = :job AND finished_at IS NULL AND "
                                         "node NOT IN ('', this_node()) LIMIT 1"});
  if (row.bind(":job", job_id).step()) throw Conflict("job is already running");
}

bool is_behind_others(Connection& connection, const JobRun& run, JobConcurrency concurrency) {
  auto row = connection.prepare(
      Sql{.sqlite = "SELECT 1 WHERE 0 AND :job AND :id AND :forbids AND :thread",
          .postgres = "SELECT 1 WHERE (:forbids = 0 AND EXISTS (SELECT 1 FROM job_runs WHERE job_id = :job AND "
                      "finished_at IS NULL AND node NOT IN ('', this_node()) AND number < coalesce((SELECT number "
                      "FROM job_runs WHERE id = :id), 9223372036854775807))) OR EXISTS (SELECT 1 FROM "
                      "active_threads WHERE thread_id = :thread AND node <> this_node())"});
  row.bind(":job", run.job_id)
      .bind(":id", run.id)
      .bind(":forbids", concurrency == JobConcurrency::forbid ? 1 : 0)
      .bind(":thread", run.thread_id.value_or(""));
  return row.step();
}

void stop_elsewhere(Connection& connection, const JobRun& run) {
  auto rows = connection.prepare(
      "SELECT tell_nodes('job_stops', earlier.id) FROM job_runs AS earlier JOIN job_runs AS own ON own.id = :id "
      "WHERE earlier.job_id = own.job_id AND earlier.finished_at IS NULL AND earlier.number < own.number "
      "AND earlier.node NOT IN ('', this_node())");
  rows.bind(":id", run.id);
  while (rows.step()) {
  }
}

void replace(Connection& connection, const JobRun& run) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(run.thread_id);
  assert_row(run);
  connection
      .prepare(
          "UPDATE job_runs SET thread_id = :thread_id, status = :status, started_at = :started_at, "
          "finished_at = :finished_at, error = :error WHERE id = :id AND finished_at IS NULL")
      .bind(":thread_id", run.thread_id)
      .bind(":status", to_text(run.status))
      .bind(":started_at", run.started_at)
      .bind(":finished_at", run.finished_at)
      .bind(":error", run.error)
      .bind(":id", run.id)
      .run();
}

void start(Connection& connection, const std::string& id, Timestamp now) {
  AGW_ASSERT(connection.in_transaction());
  connection.prepare("UPDATE job_runs SET status = 'started', started_at = :now WHERE id = :id AND status = 'queued'")
      .bind(":now", now)
      .bind(":id", id)
      .run();
}

void end(Connection& connection, const JobRun& run) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(run.finished_at);
  assert_row(run);
  connection
      .prepare(
          "UPDATE job_runs SET status = :status, started_at = :started_at, finished_at = :finished_at, error = :error, "
          "usage = :usage, cost_usd = :cost_usd WHERE id = :id AND finished_at IS NULL")
      .bind(":status", to_text(run.status))
      .bind(":started_at", run.started_at)
      .bind(":finished_at", run.finished_at)
      .bind(":error", run.error)
      .bind(":usage", ColumnValue<std::optional<json::object>>::bound(run.usage))
      .bind(":cost_usd", run.cost_usd)
      .bind(":id", run.id)
      .run();
}

void record_spent(Connection& connection, const std::string& id, const json::object& progress) {
  const auto* usage = progress.if_contains("usage");
  const auto* cost = progress.if_contains("cost_usd");
  connection.prepare("UPDATE job_runs SET usage = :usage, cost_usd = :cost_usd WHERE id = :id AND finished_at IS NULL")
      .bind(":usage", usage && usage->is_object() ? std::optional(to_json(*usage)) : std::nullopt)
      .bind(":cost_usd", cost && cost->is_number() ? std::optional(cost->to_number<double>()) : std::nullopt)
      .bind(":id", id)
      .run();
}

int end_interrupted(Connection& connection, Timestamp now) {
  constexpr Sql update{
      .sqlite =
          "UPDATE job_runs SET status = 'interrupted', finished_at = :now, error = 'the gateway was killed' "
          "WHERE finished_at IS NULL",
      .postgres =
          "UPDATE job_runs SET status = 'interrupted', finished_at = :now, error = 'the gateway was killed' "
          "WHERE finished_at IS NULL AND is_of_this_node(node)"};
  connection.prepare(update).bind(":now", now).run();
  return connection.changes();
}

std::optional<JobRun> find(Connection& connection, const std::string& id) {
  static const auto sql = select("WHERE id = :id");
  auto row = connection.prepare(sql);
  row.bind(":id", id);
  if (!row.step()) return std::nullopt;
  return read(row);
}

std::vector<JobRun> list(Connection& connection, const std::string& job_id, int limit) {
  static const auto sql = select("WHERE job_id = :job_id ORDER BY number DESC LIMIT :limit");
  auto row = connection.prepare(sql);
  row.bind(":job_id", job_id).bind(":limit", limit);
  std::vector<JobRun> runs;
  while (row.step()) runs.push_back(read(row));
  return runs;
}

std::vector<JobRun> recent(Connection& connection, Timestamp since, int limit) {
  static const auto sql = select(
      "WHERE (finished_at IS NULL OR finished_at > :since) AND status <> 'skipped' "
      "ORDER BY number DESC LIMIT :limit");
  auto row = connection.prepare(sql);
  row.bind(":since", since).bind(":limit", limit);
  std::vector<JobRun> runs;
  while (row.step()) runs.push_back(read(row));
  return runs;
}

std::vector<JobRun> completed(Connection& connection, const std::string& job_id, Timestamp since, int limit) {
  static const auto sql = select(
      "WHERE job_id = :job_id AND status = 'completed' AND finished_at > :since "
      "ORDER BY number DESC LIMIT :limit");
  auto row = connection.prepare(sql);
  row.bind(":job_id", job_id).bind(":since", since).bind(":limit", limit);
  std::vector<JobRun> runs;
  while (row.step()) runs.push_back(read(row));
  return runs;
}

int failures_in_a_row(Connection& connection, const std::string& job_id, const std::string& run_id, int limit) {
  auto row = connection.prepare(
      "SELECT status = 'failed' FROM job_runs WHERE job_id = :job_id AND status IN ('completed', 'failed') "
      "AND number <= (SELECT number FROM job_runs WHERE id = :run_id) ORDER BY number DESC LIMIT :limit");
  row.bind(":job_id", job_id).bind(":run_id", run_id).bind(":limit", limit);
  int failures = 0;
  while (row.step() && row.boolean(0)) ++failures;
  return failures;
}

std::map<std::string, Timestamp> latest_due_times(Connection& connection) {
  std::map<std::string, Timestamp> latest;
  auto row = connection.prepare("SELECT job_id, latest FROM job_due_times");
  while (row.step()) latest.emplace_hint(latest.end(), row.string(0), row.time(1));
  return latest;
}

void set_due_times_back(Connection& connection, Timestamp now) {
  connection.prepare("UPDATE job_due_times SET latest = :now WHERE latest > :now").bind(":now", now).run();
}

void forget_due_times(Connection& connection, const std::string& job_id) {
  connection.prepare("DELETE FROM job_due_times WHERE job_id = :job_id").bind(":job_id", job_id).run();
}

void remember_due_time(Connection& connection, const std::string& job_id, Timestamp due_at) {
  connection
      .prepare(
          "INSERT INTO job_due_times (job_id, latest) VALUES (:job_id, :due_at) "
          "ON CONFLICT (job_id) DO UPDATE SET latest = excluded.latest WHERE job_due_times.latest < excluded.latest")
      .bind(":job_id", job_id)
      .bind(":due_at", due_at)
      .run();
}

std::optional<std::string> own_thread(Connection& connection, const std::string& job_id) {
  auto row = connection.prepare("SELECT thread_id FROM job_threads WHERE job_id = :job_id");
  row.bind(":job_id", job_id);
  if (!row.step()) return std::nullopt;
  return row.string(0);
}

bool is_own_thread(Connection& connection, const std::string& thread_id) {
  auto row = connection.prepare("SELECT 1 FROM job_threads WHERE thread_id = :thread_id");
  return row.bind(":thread_id", thread_id).step();
}

void remember_own_thread(Connection& connection, const std::string& job_id, const std::string& thread_id) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(!thread_id.empty());
  connection
      .prepare(
          "INSERT INTO job_threads (job_id, thread_id) VALUES (:job_id, :thread_id) "
          "ON CONFLICT (job_id) DO UPDATE SET thread_id = excluded.thread_id")
      .bind(":job_id", job_id)
      .bind(":thread_id", thread_id)
      .run();
}

void forget_own_thread(Connection& connection, const std::string& job_id) {
  connection.prepare("DELETE FROM job_threads WHERE job_id = :job_id").bind(":job_id", job_id).run();
}

int purge(Connection& connection, Timestamp oldest, int limit) {
  AGW_ASSERT(limit > 0);
  connection
      .prepare(
          "DELETE FROM job_runs WHERE number IN (SELECT number FROM job_runs WHERE finished_at < :oldest LIMIT :limit)")
      .bind(":oldest", oldest)
      .bind(":limit", limit)
      .run();
  return connection.changes();
}

}  // namespace agw::job_store
