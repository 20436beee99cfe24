#include "storage/postgres/owner.hpp"

#include <thread>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/id.hpp"
#include "base/log.hpp"

namespace agw::postgres {

namespace {

using namespace std::chrono_literals;

constexpr auto between_attempts = 50ms;

/// The first number stands for this program. Gateways in different schemas do not meet.
bool try_to_lock(Connection& connection) {
  auto row = connection.prepare("SELECT pg_try_advisory_lock(7420, hashtext(coalesce(current_schema(), '')))");
  row.step();
  return row.boolean(0);
}

/// Where the other gateway is and since when; empty if this role may not see it.
std::string holder_of_lock(Connection& connection) {
  auto row = connection.prepare(
      "SELECT coalesce(host(client_addr), 'the host of the server'), "
      "to_char(backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') "
      "FROM pg_locks JOIN pg_stat_activity USING (pid) JOIN pg_database ON pg_database.oid = database "
      "WHERE pg_database.datname = current_database() AND locktype = 'advisory' AND classid = 7420 AND objsubid = 2 "
      "AND objid = CAST(hashtext(coalesce(current_schema(), '')) AS oid) AND granted AND backend_start IS NOT NULL");
  return row.step() ? fmt::format(" (connected from {} since {})", row.text(0), row.text(1)) : "";
}

std::string entered_id(Connection& connection) {
  auto row = connection.prepare("SELECT id FROM gateway_owner");
  return row.step() ? row.string(0) : "";
}

}  // namespace

void Owner::lock(Connection& connection, const Address& address, Session::Clock::time_point deadline) {
  while (!try_to_lock(connection)) {
    if (Session::Clock::now() >= deadline) {
      throw StartError(ExitStatus::already_running,
                       fmt::format("the {} (cluster.database) is in use by another gateway{}: several gateways cannot "
                                   "share a database. Stop that one, or give this one a database of its own.",
                                   address.name, holder_of_lock(connection)));
    }
    std::this_thread::sleep_for(between_attempts);
  }
}

Owner::Owner(Connection& connection) : id_(random_hex(16)) {
  connection.prepare("WITH gone AS (DELETE FROM gateway_owner) INSERT INTO gateway_owner (id) VALUES (:id)")
      .bind(":id", id_)
      .run();
  remember_session(connection);
}

void Owner::remember_session(Connection& connection) {
  auto row = connection.prepare(
      "SELECT pid, CAST(extract(epoch FROM backend_start) AS text) FROM pg_stat_activity WHERE pid = pg_backend_pid()");
  row.step();
  process_ = row.integer(0);
  began_at_ = row.string(1);
}

void Owner::lock_again(Connection& connection) {
  const bool is_locked = try_to_lock(connection);
  if (entered_id(connection) != id_) {
    log::error("another gateway has used the database (cluster.database) since the connection to it was lost");
    throw DatabaseTaken();
  }
  if (is_locked) return remember_session(connection);
  auto row = connection.prepare(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = CAST(:process AS integer) AND "
      "CAST(extract(epoch FROM backend_start) AS text) = :began");
  row.bind(":process", process_).bind(":began", began_at_);
  row.step();
  throw ConnectionLost("the session that was lost is not over yet");
}

}  // namespace agw::postgres
