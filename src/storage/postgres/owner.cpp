#include "storage/postgres/owner.hpp"

#include <charconv>
#include <cstdlib>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/error.hpp"
#include "base/id.hpp"
#include "base/log.hpp"

namespace agw::postgres {

namespace {

using namespace std::chrono_literals;

constexpr auto lock_retry_interval = 50ms;

/// The first two numbers of a version; nullopt if it has fewer.
std::optional<std::pair<int, int>> minor_version(std::string_view release) {
  std::pair<int, int> numbers;
  const auto* const end = release.data() + release.size();
  const auto major = std::from_chars(release.data(), end, numbers.first);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.') return std::nullopt;
  return std::from_chars(major.ptr + 1, end, numbers.second).ec == std::errc() ? std::optional(numbers) : std::nullopt;
}

enum class Locked { yes, in_use, name_in_use };

/// The first keys identify this program: 7420 for the database, 7422 for the names of nodes. The second key depends on
/// the schema, so gateways in different schemas do not conflict. Taking a lock twice in one session is harmless.
Locked try_to_lock(Connection& connection, const std::string& node) {
  if (node.empty()) {
    auto row = connection.prepare("SELECT pg_try_advisory_lock(7420, hashtext(coalesce(current_schema(), '')))");
    row.step();
    return row.boolean(0) ? Locked::yes : Locked::in_use;
  }
  auto shared =
      connection.prepare("SELECT pg_try_advisory_lock_shared(7420, hashtext(coalesce(current_schema(), '')))");
  shared.step();
  if (!shared.boolean(0)) return Locked::in_use;
  auto name = connection.prepare(
      "SELECT pg_try_advisory_lock(7422, hashtext(coalesce(current_schema(), '') || '/' || CAST(:node AS text))), "
      "set_config('agw.node', CAST(:node AS text), false)");
  name.bind(":node", node).step();
  return name.boolean(0) ? Locked::yes : Locked::name_in_use;
}

/// The host and start time of the other gateway; empty if this role may not see them.
std::string holder_of_lock(Connection& connection, Locked why, const std::string& node) {
  auto row = connection.prepare(
      "SELECT coalesce(host(client_addr), 'the host of the server'), "
      "to_char(backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') "
      "FROM pg_locks JOIN pg_stat_activity USING (pid) JOIN pg_database ON pg_database.oid = database "
      "WHERE pg_database.datname = current_database() AND locktype = 'advisory' AND objsubid = 2 AND granted "
      "AND CAST(classid AS bigint) = :class AND backend_start IS NOT NULL AND pid <> pg_backend_pid() "
      "AND objid = CAST(hashtext(coalesce(current_schema(), '') || CAST(:name AS text)) AS oid)");
  row.bind(":class", why == Locked::in_use ? 7420 : 7422).bind(":name", why == Locked::in_use ? "" : "/" + node);
  return row.step() ? fmt::format(" (connected from {} since {})", row.text(0), row.text(1)) : "";
}

std::string entered_id(Connection& connection, const std::string& node) {
  auto row = connection.prepare("SELECT id FROM gateway_owner WHERE node = :node");
  return row.bind(":node", node).step() ? row.string(0) : "";
}

[[noreturn]] void refuse(Connection& connection, const Address& address, const std::string& node, Locked why) {
  AGW_ASSERT(why != Locked::yes);
  // A single gateway takes no lock of a name.
  AGW_ASSERT(why == Locked::in_use || !node.empty());
  const auto holder = holder_of_lock(connection, why, node);
  if (node.empty()) {
    throw StartError(ExitStatus::already_running,
                     fmt::format("the {} (cluster.database) is in use by another gateway{}: several gateways cannot "
                                 "share a database unless each has a name (cluster.node). Stop that one, or give this "
                                 "one a database of its own.",
                                 address.name, holder));
  }
  if (why == Locked::in_use) {
    throw StartError(ExitStatus::failure,
                     fmt::format("the {} (cluster.database) is in use by a gateway without a name{}: set cluster.node "
                                 "there too, and restart it.",
                                 address.name, holder));
  }
  throw StartError(ExitStatus::failure,
                   fmt::format("the {} (cluster.database) already has a node {}{}: give this gateway another name "
                               "(cluster.node), or stop that one.",
                               address.name, node, holder));
}

}  // namespace

bool are_near(std::string_view release, std::string_view other) {
  const auto first = minor_version(release);
  const auto second = minor_version(other);
  return !first || !second || (first->first == second->first && std::abs(first->second - second->second) <= 1);
}

void Owner::refuse_distant_releases(Connection& connection, const Address& address, const std::string& node) {
  auto known = connection.prepare(
      "SELECT EXISTS (SELECT FROM information_schema.columns WHERE table_schema = current_schema() AND "
      "table_name = 'gateway_owner' AND column_name = 'version')");
  known.step();
  if (node.empty() || !known.boolean(0)) return;
  auto row = connection.prepare(
      "SELECT node, version FROM gateway_owner WHERE node NOT IN ('', :node) AND lease_until > clock_timestamp() "
      "ORDER BY node");
  row.bind(":node", node);
  while (row.step()) {
    if (are_near(AGW_VERSION, row.text(1))) continue;
    throw StartError(
        ExitStatus::failure,
        fmt::format("the node {} of the {} (cluster.database) runs agw {}, and this is {}: nodes may be one "
                    "release apart at most. Upgrade all to the release between, or stop that one.",
                    row.text(0), address.name, row.text(1), AGW_VERSION));
  }
}

void Owner::lock(Connection& connection, const Address& address, const std::string& node,
                 Session::Clock::time_point deadline) {
  AGW_DEBUG_ASSERT(may_block());
  while (true) {
    const auto locked = try_to_lock(connection, node);
    if (locked == Locked::yes) return;
    if (Session::Clock::now() >= deadline) refuse(connection, address, node, locked);
    std::this_thread::sleep_for(lock_retry_interval);
  }
}

/// A single gateway replaces the entries of all others, so that each notices; a node replaces those of its own name and
/// of a single gateway.
Owner::Owner(Connection& connection, std::string node, bool shares_files)
    : node_(std::move(node)), id_(random_hex(16)) {
  connection
      .prepare(
          "WITH gone AS (DELETE FROM gateway_owner WHERE :node IN ('', node) OR node = '') "
          "INSERT INTO gateway_owner (id, node, version, shares_files, lease_until) VALUES (:id, :node, :version, "
          ":shares_files <> 0, CASE WHEN :node <> '' THEN clock_timestamp() + interval '10 seconds' END)")
      .bind(":shares_files", shares_files)
      .bind(":version", AGW_VERSION)
      .bind(":id", id_)
      .bind(":node", node_)
      .run();
  AGW_DEBUG_ASSERT(connection.changes() == 1);
  AGW_DEBUG_ASSERT(entered_id(connection, node_) == id_);
  remember_session(connection);
}

void Owner::remember_session(Connection& connection) {
  auto row = connection.prepare(
      "SELECT pid, CAST(extract(epoch FROM backend_start) AS text) FROM pg_stat_activity WHERE pid = pg_backend_pid()");
  row.step();
  process_ = row.integer(0);
  began_at_ = row.string(1);
  AGW_DEBUG_ASSERT(process_ > 0);
}

void Owner::lock_again(Connection& connection) {
  AGW_DEBUG_ASSERT(!began_at_.empty());
  const bool is_locked = try_to_lock(connection, node_) == Locked::yes;
  if (entered_id(connection, node_) != id_) {
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
