#pragma once

#include <chrono>
#include <memory>

#include "storage/database.hpp"
#include "storage/work_item.hpp"

namespace agw {

/// The engine of a Database: SQLite, or a server. storage/database.hpp documents its promises. Use it on the loop only.
class StorageEngine {
public:
  using Clock = std::chrono::steady_clock;

  StorageEngine() = default;
  virtual ~StorageEngine() = default;
  StorageEngine(const StorageEngine&) = delete;
  StorageEngine& operator=(const StorageEngine&) = delete;

  virtual void write(std::unique_ptr<WorkItem> item, Database::Lane lane) = 0;
  virtual void read(std::unique_ptr<WorkItem> item) = 0;
  virtual Connection& start_connection() = 0;
  /// See Database::hurry.
  virtual void hurry() {}
  /// Finishes queued items until `deadline`, rejects the rest and ends the threads.
  virtual void close(Clock::time_point deadline) = 0;
  virtual Database::Statistics statistics() const = 0;
};

/// The engine of a database file. See the constructor of Database.
std::unique_ptr<StorageEngine> open_file(Loop& loop, const Database::Options& options);

}  // namespace agw
