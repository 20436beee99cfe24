#pragma once

#include <string_view>

#include "base/log.hpp"
#include "storage/connection.hpp"

namespace agw {

/// For what the start would write but can do without: runs `work` in one transaction of the start's connection. Where
/// the disk is full nothing of it is kept, and a warning says that `what` waits, because reads go on all the same.
template <class Work>
bool write_at_start(Connection& connection, std::string_view what, const Work& work) {
  try {
    connection.execute("BEGIN IMMEDIATE");
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
