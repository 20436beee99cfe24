#include "base/async/assert.hpp"
#include "base/containers.hpp"
#include "base/json/json_values.hpp"
#include "features/context/deferred_tools_store.hpp"

namespace agw::found_tools_store {

std::vector<std::string> list(Connection& connection, const std::string& thread_id) {
  auto row = connection.prepare("SELECT names FROM found_tools WHERE thread_id = :thread");
  row.bind(":thread", thread_id);
  if (!row.step()) return {};
  const auto stored = parse_stored_json(row.text(0));
  return stored.is_array() ? strings_of(stored.get_array()) : std::vector<std::string>();
}

void add(Connection& connection, const std::string& thread_id, const std::vector<std::string>& names) {
  // Otherwise another write could add names in between.
  AGW_ASSERT(connection.in_transaction());
  auto all = list(connection, thread_id);
  for (const auto& name : names) {
    if (!contains(all, name)) all.push_back(name);
  }
  connection
      .prepare(
          "INSERT INTO found_tools (thread_id, names) SELECT id, :names FROM threads WHERE id = :thread "
          "ON CONFLICT (thread_id) DO UPDATE SET names = excluded.names")
      .bind(":thread", thread_id)
      .bind(":names", to_json(json::array(all.begin(), all.end())))
      .run();
  // None if the thread was deleted.
  AGW_ASSERT(connection.changes() <= 1);
}

}  // namespace agw::found_tools_store
