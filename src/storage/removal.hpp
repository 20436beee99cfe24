#pragma once

#include <functional>
#include <string>

#include "base/async/cancellation.hpp"
#include "storage/database.hpp"

namespace agw {

/// Removes up to `limit` records and returns how many it removed.
using RemoveBatch = std::function<int(Connection& connection, int limit)>;

/// Calls `remove` until nothing is left, in batches of the background lane's size, or until `stop` is requested between
/// two of them. If a batch fails, the rest stays and a warning names the `consequence`, a clause such as `old runs are
/// kept for a day`.
/// Example: src/storage/removal_test.cpp: Removal.GoesOnUntilAPieceIsNotFull
Task<> remove_in_batches(Database& database, StopSource& stop, std::string consequence, RemoveBatch remove);

}  // namespace agw
