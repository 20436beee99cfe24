#include "features/placements/store.hpp"

#include "base/async/assert.hpp"

namespace agw::placement_store {

namespace {

/// Reads the result of a statement that returns at most one row, with node and state.
std::optional<Placement> first_row(Statement& statement) {
  if (!statement.step()) return std::nullopt;
  return Placement{.node = statement.string(0), .state = statement.string(1)};
}

}  // namespace

std::map<std::string, Placement, std::less<>> all(Connection& connection) {
  std::map<std::string, Placement, std::less<>> found;
  auto rows = connection.prepare("SELECT extension_id, node, state FROM placements");
  while (rows.step()) found.emplace(rows.string(0), Placement{.node = rows.string(1), .state = rows.string(2)});
  return found;
}

std::optional<Placement> find(Connection& connection, const std::string& extension_id) {
  auto row = connection.prepare("SELECT node, state FROM placements WHERE extension_id = :id");
  row.bind(":id", extension_id);
  return first_row(row);
}

/// Does nothing if the extension was deleted in the meantime.
std::optional<Placement> claim(Connection& connection, const std::string& extension_id) {
  AGW_ASSERT(connection.in_transaction());
  auto row = connection.prepare(
      "INSERT INTO placements (extension_id, node) SELECT id, this_node() FROM extensions WHERE id = :id "
      "ON CONFLICT (extension_id) DO UPDATE SET node = this_node() WHERE placements.node IN ('', this_node()) "
      "RETURNING node, state");
  row.bind(":id", extension_id);
  return first_row(row);
}

std::optional<Placement> take(Connection& connection, const std::string& extension_id) {
  AGW_ASSERT(connection.in_transaction());
  auto row = connection.prepare(
      "UPDATE placements SET node = this_node() WHERE extension_id = :id AND node IN ('', this_node()) "
      "RETURNING node, state");
  row.bind(":id", extension_id);
  return first_row(row);
}

void set_state(Connection& connection, const std::string& extension_id, const std::string& state) {
  connection
      .prepare(
          "UPDATE placements SET state = :state WHERE extension_id = :id AND node = this_node() AND "
          "state <> :state")
      .bind(":state", state)
      .bind(":id", extension_id)
      .run();
  AGW_DEBUG_ASSERT(connection.changes() <= 1);
}

void offer(Connection& connection, const std::string& extension_id) {
  connection
      .prepare(
          "INSERT INTO placements (extension_id, node) SELECT id, '' FROM extensions WHERE id = :id "
          "ON CONFLICT (extension_id) DO UPDATE SET node = '' WHERE placements.node IN ('', this_node())")
      .bind(":id", extension_id)
      .run();
}

void remove(Connection& connection, const std::string& extension_id) {
  connection.prepare("DELETE FROM placements WHERE extension_id = :id AND node IN ('', this_node())")
      .bind(":id", extension_id)
      .run();
}

void remove_free(Connection& connection, const std::string& extension_id) {
  connection.prepare("DELETE FROM placements WHERE extension_id = :id AND node = ''").bind(":id", extension_id).run();
}

void free_all(Connection& connection) {
  connection.prepare("UPDATE placements SET node = '' WHERE node = this_node()").run();
}

}  // namespace agw::placement_store
