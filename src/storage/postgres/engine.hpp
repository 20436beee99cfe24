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
  std::string node;                    ///< the name of this node in a cluster; empty for a single gateway
  std::filesystem::path cluster_file;  ///< nodes only: stores which cluster the data directory belongs to
  std::filesystem::path shared_files;  ///< nodes only: the data directory, if all nodes must share one
  OnChanges on_changes;  ///< nodes only: receives changes of records that nodes hold in memory, including own changes
  std::function<void()> on_lead;                      ///< nodes only: this node has become the leader, see ChangeFeed
  std::function<void(const LostNode&)> on_lost_node;  ///< nodes only: called every second while there is a lost node
  std::function<void()> on_lost;  ///< nodes only: this node must restart because it was claimed, is no longer the
                                  ///< leader, or was disconnected for so long that it may have missed changes
  std::size_t readers = 2;
  std::size_t group_limit = 64;
  std::vector<Migration> migrations = embedded_migrations("postgres");
};

/// Connects to the database and updates its schema within five seconds. Throws StartError if the server cannot be
/// reached or is not suitable (storage/postgres/schema.hpp); the message names the database and the remedy.
/// Example: src/storage/postgres/engine_test.cpp: PostgresTest.AnAwaitedWriteIsSeenByReads
std::unique_ptr<StorageEngine> open_engine(Loop& loop, const Options& options);

/// Describes a usable server.
struct ServerCheck {
  std::string name;     ///< the name of the database, for people
  std::string version;  ///< the version of PostgreSQL
  std::chrono::duration<double, std::milli> round_trip{};
  std::chrono::duration<double> ahead{};  ///< how far this host's clock is ahead of the server's
};

/// For `agw doctor`: connects and makes the checks of `open_engine` without changing anything. Throws StartError.
ServerCheck check_reachable(const std::string& url);

}  // namespace agw::postgres
