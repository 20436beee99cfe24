#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "storage/connection.hpp"

/// The turns of a thread, in order. The numbers of the newest turns are in the thread's row, which a new turn changes
/// anyway; they move to the table `turn_order` in batches (migrations/0166_turn_order.sql). SQL that needs no order
/// reads the view `thread_turns`.
/// Example: src/features/threads/turn_order_store_test.cpp: TurnOrder.GivesTheNewestFirstWhereverTheyStand
namespace agw::turn_order_store {

/// SQL that appends `:turn`, which must be newer than all turns of the thread, to the numbers in the thread's row.
constexpr const char* append_in_row = "newest_turns = newest_turns || ',' || :turn";

/// Must be called after a turn was appended to the thread, which now has `turn_count` turns.
void appended(Connection& connection, std::int64_t thread, std::int64_t turn_count);

struct Length {
  std::int64_t thread = 0;
  std::int64_t turn_count = 0;
};
/// The same for different threads, with one statement. PostgreSQL only.
void appended(Connection& connection, std::span<const Length> threads);

/// Adds a copied turn to the table. It must be newer than all others of the thread, whose row must have no numbers.
void enter(Connection& connection, std::int64_t thread, std::int64_t turn);
/// Moves the numbers in the thread's row to the table.
void enter_newest(Connection& connection, std::int64_t thread);
void remove(Connection& connection, std::int64_t thread, std::int64_t turn);

/// The numbers in the thread's row, newest first. All others are in the table.
std::vector<std::int64_t> newest_in_row(Connection& connection, std::int64_t thread);

/// The numbers of a thread's turns, newest first, read on demand.
class NewestFirst {
public:
  /// Only numbers less than `below`.
  NewestFirst(Connection& connection, std::int64_t thread,
              std::int64_t below = std::numeric_limits<std::int64_t>::max());

  /// No value at the end.
  std::optional<std::int64_t> next();

private:
  void read_page();

  Connection& connection_;
  const std::int64_t thread_;
  std::int64_t below_;                 ///< upper bound of the numbers not read from the table yet
  bool has_more_ = true;               ///< the table may have more numbers
  std::vector<std::int64_t> numbers_;  ///< read but not returned yet, ascending
};

}  // namespace agw::turn_order_store
