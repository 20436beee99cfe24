#pragma once

#include <memory>
#include <string>
#include <vector>

#include "storage/engine.hpp"
#include "storage/migration.hpp"

namespace agw::postgres {

struct Options {
  std::string url;  ///< see read_address
  std::size_t readers = 2;
  std::size_t group_limit = 64;
  std::vector<Migration> migrations = embedded_migrations("postgres");
};

/// Connects to the database and brings its tables up to date. Within five seconds. Throws StartError: the server cannot
/// be reached, or does not fit (storage/postgres/schema.hpp); the message names the database and the remedy.
/// Example: src/storage/postgres/engine_test.cpp: PostgresTest.AnAwaitedWriteIsSeenByReads
std::unique_ptr<StorageEngine> open_engine(Loop& loop, const Options& options);

/// For `agw doctor`: connects, and checks what `open_engine` would, without a change. Returns the database's name for
/// people. Throws StartError.
std::string check_reachable(const std::string& url);

}  // namespace agw::postgres
