#include "features/costs/store.hpp"

#include <limits>

#include <fmt/format.h>

#include "base/async/assert.hpp"

namespace agw::cost_store {

namespace {

std::int64_t number(LocalDay day) { return day.time_since_epoch().count(); }

template <class SqlText>
Statement between(Connection& connection, const SqlText& sql, LocalDay first, LocalDay last) {
  AGW_ASSERT(first <= last);
  auto rows = connection.prepare(sql);
  rows.bind(":first", number(first)).bind(":last", number(last));
  return rows;
}

constexpr int all_rows = std::numeric_limits<int>::max();

/// Returns the costs of the days by `column`, which becomes `id`; highest first.
template <class Cost>
std::vector<Cost> sums(Connection& connection, std::string_view table, std::string_view column, std::string Cost::* id,
                       LocalDay first, LocalDay last, int limit) {
  const auto sql = fmt::format(
      "SELECT {1}, sum(usd) AS cost FROM {0} WHERE day BETWEEN :first AND :last GROUP BY {1} ORDER BY cost DESC, {1} "
      "LIMIT :limit",
      table, column);
  auto rows = between(connection, sql, first, last);
  // SQLite takes a negative limit for none.
  AGW_ASSERT(limit > 0);
  rows.bind(":limit", limit);
  std::vector<Cost> found;
  while (rows.step()) {
    auto& cost = found.emplace_back();
    cost.*id = rows.string(0);
    cost.cost = rows.real(1);
  }
  return found;
}

void add_payer(Connection& connection, const Spending& spending) {
  if (!spending.client.empty()) {
    connection
        .prepare(
            "INSERT INTO cost_clients (day, client, usd) VALUES (:day, :client, :usd) ON CONFLICT (day, client) DO "
            "UPDATE SET usd = cost_clients.usd + excluded.usd")
        .bind(":day", number(spending.day))
        .bind(":client", spending.client)
        .bind(":usd", spending.usd)
        .run();
    return;
  }
  connection
      .prepare(
          "INSERT INTO cost_agents (day, agent_id, name, usd) VALUES (:day, :agent, :name, :usd) ON CONFLICT (day, "
          "agent_id) DO UPDATE SET usd = cost_agents.usd + excluded.usd, name = excluded.name")
      .bind(":day", number(spending.day))
      .bind(":agent", spending.agent_id)
      .bind(":name", spending.agent_name)
      .bind(":usd", spending.usd)
      .run();
}

void add_model(Connection& connection, const Spending& spending) {
  connection
      .prepare(
          "INSERT INTO cost_models (day, model, usd, unpriced) VALUES (:day, :model, :usd, :unpriced) ON CONFLICT "
          "(day, model) DO UPDATE SET usd = cost_models.usd + excluded.usd, unpriced = cost_models.unpriced + "
          "excluded.unpriced")
      .bind(":day", number(spending.day))
      .bind(":model", spending.model)
      .bind(":usd", spending.usd)
      .bind(":unpriced", spending.priced ? 0 : 1)
      .run();
}

void add_savings(Connection& connection, const Spending& spending) {
  connection
      .prepare(
          "INSERT INTO cost_savings (day, usd) VALUES (:day, :usd) ON CONFLICT (day) DO UPDATE SET usd = "
          "cost_savings.usd + excluded.usd")
      .bind(":day", number(spending.day))
      .bind(":usd", spending.saved)
      .run();
}

void add_tokens(Connection& connection, const Spending& spending) {
  connection
      .prepare(
          "INSERT INTO cost_tokens (day, input, cached) VALUES (:day, :input, :cached) ON CONFLICT (day) DO UPDATE "
          "SET input = cost_tokens.input + excluded.input, cached = cost_tokens.cached + excluded.cached")
      .bind(":day", number(spending.day))
      .bind(":input", spending.input_tokens)
      .bind(":cached", spending.cached_tokens)
      .run();
}

void add_day(Connection& connection, const Spending& spending) {
  connection
      .prepare(
          "INSERT INTO cost_days (day, usd) VALUES (:day, :usd) ON CONFLICT (day) DO UPDATE SET usd = cost_days.usd + "
          "excluded.usd")
      .bind(":day", number(spending.day))
      .bind(":usd", spending.usd)
      .run();
}

void add_thread(Connection& connection, const Spending& spending) {
  connection
      .prepare(
          "INSERT INTO cost_threads (day, thread_id, usd) VALUES (:day, :thread, :usd) ON CONFLICT (day, thread_id) DO "
          "UPDATE SET usd = cost_threads.usd + excluded.usd")
      .bind(":day", number(spending.day))
      .bind(":thread", spending.thread_id)
      .bind(":usd", spending.usd)
      .run();
}

}  // namespace

void add(Connection& connection, const Spending& spending) {
  // All sums of a call change together.
  AGW_ASSERT(connection.in_transaction());

  // Either an agent pays or a program.
  AGW_ASSERT(spending.client.empty() || spending.agent_id.empty());
  AGW_ASSERT(spending.client.empty() || spending.thread_id.empty());
  AGW_ASSERT(spending.cached_tokens <= spending.input_tokens);
  // A call without a known price costs nothing that we know of.
  AGW_ASSERT(spending.priced || spending.usd == 0);
  add_payer(connection, spending);
  add_model(connection, spending);
  if (spending.saved != 0) add_savings(connection, spending);
  if (spending.input_tokens > 0) add_tokens(connection, spending);
  if (spending.usd == 0) return;
  add_day(connection, spending);
  if (!spending.thread_id.empty()) add_thread(connection, spending);
}

std::map<std::string, double, std::less<>> agents_of_day(Connection& connection, LocalDay day) {
  std::map<std::string, double, std::less<>> found;
  auto rows = connection.prepare("SELECT agent_id, usd FROM cost_agents WHERE day = :day");
  rows.bind(":day", number(day));
  while (rows.step()) found[rows.string(0)] = rows.real(1);
  return found;
}

double clients_of_day(Connection& connection, LocalDay day) {
  auto row = connection.prepare("SELECT coalesce(sum(usd), 0.0) FROM cost_clients WHERE day = :day");
  row.bind(":day", number(day)).step();
  return row.real(0);
}

std::map<std::string, double, std::less<>> spent_elsewhere(Connection& connection, LocalDay day) {
  std::map<std::string, double, std::less<>> found;
  auto rows = connection.prepare(
      "SELECT payer, sum(usd) FROM cost_nodes WHERE day = :day AND node <> this_node() GROUP BY payer");
  rows.bind(":day", number(day));
  while (rows.step()) found[rows.string(0)] = rows.real(1);
  return found;
}

std::map<LocalDay, double> by_day(Connection& connection, LocalDay first, LocalDay last) {
  std::map<LocalDay, double> found;
  auto rows = between(connection, "SELECT day, usd FROM cost_days WHERE day BETWEEN :first AND :last", first, last);
  while (rows.step()) found[LocalDay(std::chrono::days(rows.integer(0)))] = rows.real(1);
  return found;
}

double saved(Connection& connection, LocalDay first, LocalDay last) {
  auto row = between(connection, "SELECT coalesce(sum(usd), 0.0) FROM cost_savings WHERE day BETWEEN :first AND :last",
                     first, last);
  row.step();
  return row.real(0);
}

std::optional<double> cached_share(Connection& connection, LocalDay first, LocalDay last) {
  auto row = between(connection,
                     "SELECT sum(cached) * 1.0 / nullif(sum(input), 0) FROM cost_tokens WHERE day BETWEEN :first AND "
                     ":last",
                     first, last);
  row.step();
  return row.optional_real(0);
}

std::vector<AgentCost> by_agent(Connection& connection, LocalDay first, LocalDay last) {
  std::vector<AgentCost> found;
  // The latest name. With max(day), SQLite takes `name` from the latest row; PostgreSQL does not.
  auto rows = between(connection,
                      Sql{"SELECT agent_id, name, sum(usd) AS cost, max(day) FROM cost_agents WHERE day BETWEEN :first "
                          "AND :last GROUP BY agent_id ORDER BY cost DESC, agent_id",
                          "SELECT agent_id, (array_agg(name ORDER BY day DESC))[1], sum(usd) AS cost FROM cost_agents "
                          "WHERE day BETWEEN :first AND :last GROUP BY agent_id ORDER BY cost DESC, agent_id"},
                      first, last);
  while (rows.step()) found.push_back({rows.string(0), rows.string(1), rows.real(2)});
  return found;
}

std::vector<ModelCost> by_model(Connection& connection, LocalDay first, LocalDay last) {
  return sums(connection, "cost_models", "model", &ModelCost::model, first, last, all_rows);
}

std::vector<ThreadCost> by_thread(Connection& connection, LocalDay first, LocalDay last, int limit) {
  return sums(connection, "cost_threads", "thread_id", &ThreadCost::thread_id, first, last, limit);
}

std::vector<ClientCost> by_client(Connection& connection, LocalDay first, LocalDay last, int limit) {
  return sums(connection, "cost_clients", "client", &ClientCost::client, first, last, limit);
}

std::vector<JobCost> by_job(Connection& connection, LocalDay first, LocalDay last) {
  constexpr auto threads_of_jobs = "cost_threads JOIN threads ON threads.id = thread_id AND job_id IS NOT NULL";
  return sums(connection, threads_of_jobs, "job_id", &JobCost::job_id, first, last, all_rows);
}

std::optional<double> of_thread(Connection& connection, const std::string& thread_id) {
  auto row = connection.prepare("SELECT sum(usd) FROM cost_threads WHERE thread_id = :thread");
  row.bind(":thread", thread_id).step();
  return row.optional_real(0);
}

std::vector<std::string> unpriced(Connection& connection, LocalDay first, LocalDay last) {
  std::vector<std::string> found;
  auto rows =
      between(connection,
              "SELECT DISTINCT model FROM cost_models WHERE day BETWEEN :first AND :last AND unpriced > 0 ORDER "
              "BY model",
              first, last);
  while (rows.step()) found.push_back(rows.string(0));
  return found;
}

}  // namespace agw::cost_store
