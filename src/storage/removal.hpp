#pragma once

#include <functional>
#include <string>

#include "base/cut.hpp"
#include "storage/database.hpp"

namespace agw {

/// Removes up to `limit` records, and gives how many there were.
using RemoveSome = std::function<int(Connection& connection, int limit)>;

/// Has `remove` remove all there is, in pieces of the background's size, unless `stop` comes between two of them. Where
/// one fails, what is left stays: a warning says so with `what_stays`, a clause such as `old runs are kept for a day`.
Task<> remove_in_pieces(Database& database, Stop& stop, std::string what_stays, RemoveSome remove);

}  // namespace agw
