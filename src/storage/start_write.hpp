#pragma once

#include <string_view>

#include "base/log.hpp"
#include "storage/connection.hpp"

namespace agw {

/// For optional writes at the start: runs `work` in one transaction of the start's connection. If the disk is full, the
/// transaction is rolled back and a warning says that `what` waits; the start goes on, because reads still work.
template <class Work>
bool write_at_start(Connection& connection, std::string_view what, const Work& work) {
  try {
    connection.begin();
    work();
    connection.execute("COMMIT");
    return true;
  } catch (const DiskFull&) {
    if (connection.in_transaction()) connection.execute("ROLLBACK");
    log::warn("the disk is full: {} waits for a start with more room", what);
    return false;
  }
}

}  // namespace agw
