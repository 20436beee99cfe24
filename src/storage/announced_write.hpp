#pragma once

#include <functional>

#include "storage/connection.hpp"

namespace agw {

/// A write of which another thread must know soon: after the commit, and before the caller of `Database::write` is
/// resumed on the loop, `committed` is called on the writer's thread. Only for a database file: a server's database
/// does not call it. It must not throw or block.
/// Example: src/storage/announced_write_test.cpp: AnnouncedWriteTest.IsAnnouncedBeforeItsCallerResumes
struct AnnouncedWrite {
  std::function<void(Connection&)> work;
  std::function<void()> committed;

  void operator()(Connection& connection) const { work(connection); }
};

}  // namespace agw
