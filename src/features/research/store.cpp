#include "features/research/store.hpp"

namespace agw::iteration_store {

void insert(Connection& connection, const InterruptedIteration& iteration) {
  connection
      .prepare(
          "INSERT INTO iterations (id, domain, asset_path, started_at) VALUES (:id, :domain, :asset_path, :started_at)")
      .bind(":id", iteration.id)
      .bind(":domain", iteration.domain)
      .bind(":asset_path", iteration.asset_path)
      .bind(":started_at", iteration.started_at)
      .run();
}

void keep_original(Connection& connection, const std::string& id, const AssetCopy& original) {
  connection.prepare("UPDATE iterations SET original = :original, mode = :mode WHERE id = :id")
      .bind(":original", original.bytes)
      .bind(":mode", original.mode)
      .bind(":id", id)
      .run();
}

void note_thread(Connection& connection, const std::string& id, const std::string& thread_id) {
  connection.prepare("UPDATE iterations SET thread_id = :thread WHERE id = :id")
      .bind(":thread", thread_id)
      .bind(":id", id)
      .run();
}

void remove(Connection& connection, const std::string& id) {
  connection.prepare("DELETE FROM iterations WHERE id = :id").bind(":id", id).run();
}

std::vector<InterruptedIteration> all(Connection& connection) {
  std::vector<InterruptedIteration> found;
  auto row = connection.prepare(
      "SELECT id, domain, asset_path, original, mode, started_at, thread_id FROM iterations ORDER BY started_at");
  while (row.step()) {
    InterruptedIteration iteration{.id = row.string(0),
                                   .domain = row.string(1),
                                   .asset_path = row.string(2),
                                   .original = {},
                                   .started_at = row.time(5),
                                   .thread_id = row.optional_string(6)};
    if (!row.is_null(3)) iteration.original = AssetCopy{row.string(3), static_cast<mode_t>(row.integer(4))};
    found.push_back(std::move(iteration));
  }
  return found;
}

}  // namespace agw::iteration_store
