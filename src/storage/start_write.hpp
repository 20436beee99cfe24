#pragma once

#include <string_view>

#include "base/log.hpp"
#include "storage/connection.hpp"

namespace agw {

/// The maximum number of attempts of a write at the start. Other nodes may start at the same time and cause conflicts.
inline constexpr int max_start_attempts = 10;

/// For optional writes at the start: runs `work` in one transaction of the start's connection, and repeats it after a
/// conflict with another node. If the disk is full, it rolls back and logs a warning that `what` waits; the start
/// continues, because reads still work.
template <class Work>
bool write_at_start(Connection& connection, std::string_view what, const Work& work) {
  const auto roll_back = [&connection] {
    if (connection.in_transaction()) connection.execute("ROLLBACK");
  };
  for (int attempt = 1;; ++attempt) {
    try {
      connection.begin();
      work();
      connection.execute("COMMIT");
      return true;
    } catch (const DiskFull&) {
      roll_back();
      log::warn("the disk is full: {} waits for a start with more room", what);
      return false;
    } catch (const DatabaseUnavailable&) {
      roll_back();
      if (attempt == max_start_attempts) throw;
    }
  }
}

}  // namespace agw
