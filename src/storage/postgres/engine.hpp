#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "storage/changes.hpp"
#include "storage/engine.hpp"
#include "storage/migration.hpp"

namespace agw::postgres {

struct Options {
  std::string url;                     ///< see read_address
  std::string node;                    ///< the gateway's name among those that share the database; empty: it is alone
  std::filesystem::path cluster_file;  ///< of a node: remembers to which cluster its data directory belongs
  std::filesystem::path shared_files;  ///< of a node: the data directory, if all nodes are to have the same one
  OnChanges on_changes;           ///< of a node: called for each change of what nodes hold in memory, its own included
  std::function<void()> on_lead;  ///< of a node: it is the first one now, see ChangeFeed
  std::function<void(const LostNode&)> on_lost_node;  ///< of a node: every second while there is one
  std::function<void()> on_lost;  ///< of a node: it must start anew, as it was claimed, is the first one no more, or
                                  ///< was away from the database for so long that it may have missed changes
  std::size_t readers = 2;
  std::size_t group_limit = 64;
  std::vector<Migration> migrations = embedded_migrations("postgres");
};

/// Connects to the database and brings its tables up to date. Within five seconds. Throws StartError: the server cannot
/// be reached, or does not fit (storage/postgres/schema.hpp); the message names the database and the remedy.
/// Example: src/storage/postgres/engine_test.cpp: PostgresTest.AnAwaitedWriteIsSeenByReads
std::unique_ptr<StorageEngine> open_engine(Loop& loop, const Options& options);

/// A description of a usable server.
struct ServerCheck {
  std::string name;     ///< of the database, for people
  std::string version;  ///< of PostgreSQL
  std::chrono::duration<double, std::milli> round_trip{};
  std::chrono::duration<double> ahead{};  ///< how far the clock of this host is ahead of the server's
};

/// For `agw doctor`: connects, and checks what `open_engine` would, without a change. Throws StartError.
ServerCheck check_reachable(const std::string& url);

}  // namespace agw::postgres
