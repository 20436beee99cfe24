// How this node applies changes of records that other nodes of the cluster have made.
//
// The writer reads the records, so the results arrive in the order of commits, and never replace newer changes of this
// node. Names are unique in the database and in the registry, but changes arrive in parts. So if a record in the
// registry still has the name of a changed one, it is read too, until all names are consistent.

#include <algorithm>

#include "base/async/assert.hpp"
#include "base/containers.hpp"
#include "features/extensions/registry.hpp"
#include "features/extensions/service.hpp"
#include "features/extensions/store.hpp"
#include "storage/database.hpp"

namespace agw {

namespace {

struct Difference {
  std::string id;
  ExtensionPointer before;  ///< null if it is new
  ExtensionPointer after;   ///< null if it was deleted
};

std::vector<extension_store::Row> rows_of(Connection& connection, const std::vector<std::string>& ids) {
  std::vector<extension_store::Row> rows;
  for (const auto& id : ids) {
    if (auto row = extension_store::find(connection, id)) rows.push_back(std::move(*row));
  }
  return rows;
}

}  // namespace

/// Adds the ids of registered records that have names of `rows`. Returns whether there were any.
bool Extensions::add_holders_of_names(const std::vector<extension_store::Row>& rows,
                                      std::vector<std::string>& ids) const {
  const auto before = ids.size();
  for (const auto& row : rows) {
    const auto holder = registry_->find_named(row.extension.name);
    if (holder && !contains(ids, holder->id)) ids.push_back(holder->id);
  }
  return ids.size() > before;
}

Task<> Extensions::refresh(std::vector<std::string> ids) {
  std::vector<extension_store::Row> rows;
  do {
    rows = co_await database_.write([ids](Connection& connection) { return rows_of(connection, ids); });
  } while (add_holders_of_names(rows, ids));

  std::vector<Difference> differences;
  for (const auto& id : ids) {
    const auto row = std::ranges::find(rows, id, [](const auto& one) -> auto& { return one.extension.id; });
    const auto before = registry_->find(id);
    const bool is_stored = row != rows.end();
    if (!is_stored && !before) continue;
    if (is_stored && before && before->updated_at == row->extension.updated_at) continue;
    differences.push_back({id, before, is_stored ? std::make_shared<const Extension>(row->extension) : nullptr});
  }
  for (const auto& difference : differences) registry_->erase(difference.id);
  for (auto& row : rows) {
    if (!registry_->find(row.extension.id)) registry_->put(row.position, std::move(row.extension));
  }
  for (const auto& [id, before, after] : differences) {
    AGW_ASSERT(before || after);
    AGW_DEBUG_ASSERT(!before || before->id == id);
    AGW_DEBUG_ASSERT(!after || after->id == id);
    const auto action = !before ? ExtensionAction::created
                        : after ? ExtensionAction::updated
                                : ExtensionAction::deleted;
    announce(after ? *after : *before, before, action, "", Origin::another_node);
  }
  if (!outbox_ || shares_files() || differences.empty()) co_return;
  auto steps = co_await database_.write([differences](Connection& connection) {
    std::vector<DiskStep> all;
    for (const auto& [id, before, after] : differences) {
      append(all, ExtensionOutbox::record_steps(connection, before.get(), after.get()));
    }
    return all;
  });
  co_await outbox_->execute(std::move(steps));
}

}  // namespace agw
