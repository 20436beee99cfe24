#include "features/research/store.hpp"

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "storage/columns.hpp"

namespace agw::iteration_store {

namespace {

constexpr auto columns = columns_of<InterruptedIteration>(
    Column{"id", &InterruptedIteration::id}, Column{"domain", &InterruptedIteration::domain},
    Column{"asset_path", &InterruptedIteration::asset_path}, Column{"started_at", &InterruptedIteration::started_at},
    Column{"thread_id", &InterruptedIteration::thread_id});

}  // namespace

void insert(Connection& connection, const InterruptedIteration& iteration) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(!iteration.id.empty());
  AGW_ASSERT(!iteration.original);
  AGW_ASSERT(!iteration.thread_id);
  connection
      .prepare(
          "INSERT INTO iterations (id, domain, asset_path, started_at) VALUES (:id, :domain, :asset_path, :started_at)")
      .bind(":id", iteration.id)
      .bind(":domain", iteration.domain)
      .bind(":asset_path", iteration.asset_path)
      .bind(":started_at", iteration.started_at)
      .run();
}

void store_original(Connection& connection, const std::string& id, const AssetCopy& original) {
  AGW_ASSERT(connection.in_transaction());
  connection.prepare("UPDATE iterations SET original = :original, mode = :mode WHERE id = :id")
      .bind(":original", original.bytes)
      .bind(":mode", original.mode)
      .bind(":id", id)
      .run();
  // Without it, a start after a kill could not restore the asset.
  AGW_CHECK(connection.changes() == 1, "the iteration has no row for its original");
}

void record_thread(Connection& connection, const std::string& id, const std::string& thread_id) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(!thread_id.empty());
  connection.prepare("UPDATE iterations SET thread_id = :thread WHERE id = :id")
      .bind(":thread", thread_id)
      .bind(":id", id)
      .run();
}

void remove(Connection& connection, const std::string& id) {
  AGW_ASSERT(connection.in_transaction());
  connection.prepare("DELETE FROM iterations WHERE id = :id").bind(":id", id).run();
}

std::vector<InterruptedIteration> all(Connection& connection) {
  std::vector<InterruptedIteration> found;
  const auto select = [&](std::string_view condition) {
    return fmt::format("SELECT {}, original, mode FROM iterations {} ORDER BY started_at", columns.names(), condition);
  };
  auto row = connection.prepare(connection.is_postgres() ? select("WHERE is_of_this_node(node)") : select(""));
  constexpr int original = columns.count;
  constexpr int mode = original + 1;
  while (row.step()) {
    auto& iteration = found.emplace_back(columns.read(row));
    if (!row.is_null(original))
      iteration.original = AssetCopy{row.string(original), static_cast<mode_t>(row.integer(mode))};
  }
  return found;
}

}  // namespace agw::iteration_store
