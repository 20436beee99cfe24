#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "storage/postgres/address.hpp"
#include "storage/postgres/record_copy.hpp"

namespace agw::postgres {

/// Moves a gateway's records between its database file and a database on a server. No other program may use either
/// during the move: the caller holds the lock of the data directory, and these functions take the lock of the server's
/// database.
///
/// An interrupted move continues at the next call. Until it has finished, the source is authoritative: a gateway
/// refuses the unfinished target. Both functions block, and throw StartError.
struct RecordMove {
  std::string url;                ///< the address of the server's database
  std::string node;               ///< this gateway's node name; empty for a single gateway
  bool shares_files = false;      ///< all nodes share this gateway's directories
  std::filesystem::path file;     ///< `{data_dir}/gateway.db`
  std::filesystem::path backups;  ///< copies made before migrations
  RecordCopy::Progress progress;
  std::function<void(Connection&)> index;  ///< on the server: adds to search indexes what no trigger adds
};

/// Moves the records to the server, as `cluster init` does, and returns the number of rows. Renames the file at the end
/// without changing it.
struct MovedRecords {
  std::uint64_t rows = 0;
  std::filesystem::path file;  ///< the renamed file, or the new one
  std::string server;          ///< the database's name for people
};
MovedRecords move_to_server(const RecordMove& move);

/// Moves the records back to a new file, as `cluster leave` does. The server's database is not changed.
MovedRecords move_to_file(const RecordMove& move);

/// Throws StartError if the database is the target of an unfinished move.
void require_complete(Connection& connection, const Address& address);

}  // namespace agw::postgres
