#include "base/async/assert.hpp"
#include "base/log.hpp"
#include "storage/database.hpp"

namespace agw {

namespace {

constexpr int removed_at_once = 200;

}  // namespace

Task<> remove_in_batches(Database& database, StopSource& stop, std::string consequence, RemoveBatch remove) {
  const auto remove_piece = [remove](Connection& connection) { return remove(connection, removed_at_once); };
  int removed = removed_at_once;
  try {
    while (removed == removed_at_once && !stop.requested()) {
      removed = co_await database.write(remove_piece, Database::Lane::background);
      AGW_DEBUG_ASSERT(removed >= 0);
      // More than a full piece would end the loop with records left.
      AGW_DEBUG_ASSERT(removed <= removed_at_once);
    }
  } catch (const std::exception& error) {
    log::warn("{}: {}", consequence, error.what());
  }
}

}  // namespace agw
