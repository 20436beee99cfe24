#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "storage/connection.hpp"

/// Which turns a thread has, in their order. The numbers of its newest turns stand in the thread's row, where a new
/// turn costs nothing more, and are entered into the table `turn_order` many at a time
/// (migrations/0166_turn_order.sql). SQL that needs no order reads the view `thread_turns`.
namespace agw::turn_order_store {

/// Appends `:turn`, which is newer than all turns, to the numbers in the row of its thread.
constexpr const char* append_in_row = "newest_turns = newest_turns || ',' || :turn";

/// To be called when a turn was appended to the thread, which has `turn_count` now.
void appended(Connection& connection, std::int64_t thread, std::int64_t turn_count);

/// Enters a turn that is newer than all the thread has, and whose thread has no numbers in its row: a copy.
void enter(Connection& connection, std::int64_t thread, std::int64_t turn);
/// Enters what is in the thread's row.
void enter_newest(Connection& connection, std::int64_t thread);
void remove(Connection& connection, std::int64_t thread, std::int64_t turn);

/// The numbers in the thread's row, the newest first: all others are entered.
std::vector<std::int64_t> newest_in_row(Connection& connection, std::int64_t thread);

/// The numbers of a thread's turns, the newest first, read as they are asked for.
class NewestFirst {
public:
  /// Those below `below`.
  NewestFirst(Connection& connection, std::int64_t thread,
              std::int64_t below = std::numeric_limits<std::int64_t>::max());

  /// Nothing at the end.
  std::optional<std::int64_t> next();

private:
  std::vector<std::int64_t> newest_;  ///< those in the row, ascending
  Statement entered_;
};

}  // namespace agw::turn_order_store
