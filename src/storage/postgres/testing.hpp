#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "storage/migration.hpp"
#include "testing/scratch_directory.hpp"

namespace agw::postgres::testing {

/// A PostgreSQL server in a temporary directory, reached through a socket there. Started as the user `postgres` if the
/// tests run as root, because the server refuses root.
class Server {
public:
  /// Starts the server. Throws std::runtime_error.
  Server();
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// The reason why no server can be started here; empty if one can.
  static std::string missing();
  /// The server shared by the tests of this process.
  static Server& shared();

  void start();
  void stop() { end(SIGINT); }
  /// Kills all processes of the server without notifying clients and without a checkpoint.
  void kill() { end(SIGQUIT); }

  /// Creates an empty database with the given options of CREATE DATABASE. Returns its address.
  std::string create_database(const std::string& options = "ENCODING 'UTF8' LOCALE 'C'");
  std::string url(const std::string& database, const std::string& user = "agw") const;
  std::filesystem::path socket() const { return directory_.path() / ".s.PGSQL.5432"; }

private:
  int run(const std::vector<std::string>& command) const;
  int spawn(const std::vector<std::string>& command) const;
  void end(int signal);
  void wait_until_ready() const;

  agw::testing::ScratchDirectory directory_;
  int process_ = 0;
  int databases_ = 0;
};

/// `rows (number bigint PRIMARY KEY, text text)`.
inline std::vector<Migration> rows_table() {
  return {{1, "0001_rows.sql", "CREATE TABLE rows (number bigint PRIMARY KEY, text text)"}};
}

}  // namespace agw::postgres::testing

/// Put it at the beginning of a test that needs a server.
#define SKIP_WITHOUT_POSTGRES()                                                             \
  if (const auto missing = ::agw::postgres::testing::Server::missing(); !missing.empty()) { \
    GTEST_SKIP() << missing;                                                                \
  }                                                                                         \
  static_assert(true)
