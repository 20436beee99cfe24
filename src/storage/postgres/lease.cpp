#include "storage/postgres/lease.hpp"

#include <chrono>

#include "base/async/assert.hpp"

namespace agw::postgres {

namespace {

void act_as(Connection& connection, const std::string& node) {
  connection.prepare("SELECT set_config('agw.node', CAST(:node AS text), true)").bind(":node", node).step();
}

}  // namespace

bool renew(Connection& connection, const std::string& id, std::int64_t seen) {
  AGW_ASSERT(!id.empty());
  AGW_ASSERT(seen >= 0);
  connection
      .prepare(
          "UPDATE gateway_owner SET lease_until = clock_timestamp() + interval '10 seconds', seen = :seen, "
          "ahead = :now - extract(epoch FROM clock_timestamp()) WHERE id = :id")
      .bind(":now", std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count())
      .bind(":seen", seen)
      .bind(":id", id)
      .run();
  AGW_DEBUG_ASSERT(connection.changes() <= 1);
  return connection.changes() > 0;
}

std::optional<LostNode> find_lost(Connection& connection, const std::string& id) {
  AGW_ASSERT(!id.empty());
  auto row =
      connection.prepare("SELECT node, id FROM gateway_owner WHERE lease_until < clock_timestamp() AND id <> :id");
  row.bind(":id", id);
  return row.step() ? std::optional(LostNode{row.string(0), row.string(1)}) : std::nullopt;
}

bool claim(Connection& connection, const LostNode& lost, const std::string& claim) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(!lost.id.empty());
  AGW_ASSERT(!claim.empty());
  // The lost node would go on writing under its id.
  AGW_ASSERT(claim != lost.id);
  connection
      .prepare(
          "UPDATE gateway_owner SET id = :claim, lease_until = clock_timestamp() + interval '30 seconds' "
          "WHERE id = :id AND lease_until < clock_timestamp()")
      .bind(":claim", claim)
      .bind(":id", lost.id)
      .run();
  if (connection.changes() == 0) return false;
  AGW_DEBUG_ASSERT(connection.changes() == 1);
  // A process that hangs keeps its sessions and their locks.
  auto ended = connection.prepare(
      "SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_database ON pg_database.oid = database "
      "WHERE datname = current_database() AND locktype = 'advisory' AND pid <> pg_backend_pid() "
      "AND CAST(classid AS bigint) IN (7422, 7425) "
      "AND objid = CAST(hashtext(coalesce(current_schema(), '') || '/' || CAST(:node AS text)) AS oid)");
  ended.bind(":node", lost.name);
  while (ended.step()) {
  }
  return true;
}

void release(Connection& connection, const std::string& claim) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(!claim.empty());
  connection.prepare("DELETE FROM gateway_owner WHERE id = :claim").bind(":claim", claim).run();
  AGW_DEBUG_ASSERT(connection.changes() <= 1);
}

void leave(Connection& connection) {
  AGW_ASSERT(connection.in_transaction());
  connection
      .prepare(
          "DELETE FROM gateway_owner WHERE node = this_node() AND "
          "NOT EXISTS (SELECT FROM runs WHERE node = this_node() AND ended_at IS NULL) AND "
          "NOT EXISTS (SELECT FROM job_runs WHERE node = this_node() AND finished_at IS NULL)")
      .run();
}

AsNode::AsNode(Connection& connection, const std::string& node) : connection_(connection) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(!node.empty());
  auto row = connection.prepare("SELECT this_node()");
  row.step();
  own_ = row.string(0);
  act_as(connection, node);
}

AsNode::~AsNode() {
  try {
    act_as(connection_, own_);
  } catch (const DatabaseError&) {  // NOLINT(bugprone-empty-catch)
    // The transaction has failed; its rollback restores the name.
  }
}

}  // namespace agw::postgres
