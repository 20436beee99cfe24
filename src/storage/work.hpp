#pragma once

#include <functional>
#include <variant>

#include "storage/announced_write.hpp"
#include "storage/connection.hpp"
#include "storage/row_insert.hpp"

namespace agw {

/// What a database thread does for a caller, with its connection. Runs again if its group is rolled back.
using DatabaseWork = std::variant<std::function<void(Connection&)>, RowInsert, AnnouncedWrite>;

}  // namespace agw
