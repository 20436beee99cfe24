#include "features/cluster/store.hpp"

#include "base/async/assert.hpp"

namespace agw::cluster_store {

namespace {

std::string first_text(Connection& connection, std::string_view sql, const std::string& id) {
  auto row = connection.prepare(sql);
  row.bind(":id", id);
  return row.step() ? row.string(0) : std::string();
}

}  // namespace

Identity identity(Connection& connection) {
  auto row = connection.prepare(
      "SELECT cluster.id, cluster_secret.secret, nextval('node_epochs') FROM cluster, cluster_secret");
  const bool is_known = row.step();
  AGW_CHECK(is_known, "the database has no identity of the cluster");
  Identity found{row.string(0), row.string(1), row.integer(2)};
  // With an empty secret, everybody could seal messages.
  AGW_CHECK(!found.secret.empty(), "the database has no secret of the cluster");
  AGW_CHECK(found.epoch > 0, "the start of this node has no number");
  return found;
}

bool has_lease(Connection& connection) {
  auto row = connection.prepare(
      "SELECT this_node() = '' OR EXISTS (SELECT FROM gateway_owner WHERE node = this_node() AND lease_until > "
      "clock_timestamp())");
  return row.step() && row.boolean(0);
}

std::string node_of_thread(Connection& connection, const std::string& thread_id) {
  return first_text(connection, "SELECT node FROM active_threads WHERE thread_id = :id AND node <> this_node()",
                    thread_id);
}

std::string node_of_turn(Connection& connection, const std::string& turn_id) {
  return first_text(connection,
                    "SELECT node FROM active_threads WHERE node <> this_node() AND thread_id = "
                    "(SELECT threads.id FROM turns JOIN threads ON threads.number = turns.thread WHERE turns.id = :id)",
                    turn_id);
}

std::string node_of_permission(Connection& connection, const std::string& id) {
  return first_text(connection,
                    "SELECT node FROM permission_requests WHERE id = :id AND decided_at IS NULL AND "
                    "node NOT IN ('', this_node())",
                    id);
}

std::string node_of_job_run(Connection& connection, const std::string& id) {
  return first_text(
      connection, "SELECT node FROM job_runs WHERE id = :id AND finished_at IS NULL AND node NOT IN ('', this_node())",
      id);
}

std::string node_of_program(Connection& connection, const std::string& extension) {
  return first_text(connection,
                    "SELECT node FROM placements JOIN extensions ON extensions.id = extension_id "
                    "WHERE :id IN (extensions.id, extensions.name) AND node NOT IN ('', this_node())",
                    extension);
}

NodeAddress address_of(Connection& connection, const std::string& node) {
  auto row = connection.prepare("SELECT address, epoch FROM node_addresses WHERE node = :node");
  row.bind(":node", node);
  return row.step() ? NodeAddress{.address = row.string(0), .epoch = row.integer(1)} : NodeAddress{};
}

void set_address(Connection& connection, const NodeAddress& address) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(address.epoch > 0);
  connection
      .prepare(
          "INSERT INTO node_addresses (node, address, epoch) VALUES (this_node(), :address, :epoch) "
          "ON CONFLICT (node) DO UPDATE SET address = excluded.address, epoch = excluded.epoch")
      .bind(":address", address.address)
      .bind(":epoch", address.epoch)
      .run();
}

}  // namespace agw::cluster_store
