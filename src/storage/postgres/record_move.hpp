#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "storage/postgres/address.hpp"
#include "storage/postgres/record_copy.hpp"

namespace agw::postgres {

/// Moves a gateway's records between its database file and a database on a server. Nobody else uses either during the
/// move: the caller holds the lock of the data directory, and these take that of the server's database.
///
/// An interrupted move continues when it is called again. Until it has finished, the source is authoritative: a gateway
/// refuses the unfinished database. Both block, and throw StartError.
struct RecordMove {
  std::string url;                ///< of the server's database
  std::string node;               ///< this gateway's name; empty if it is alone
  bool shares_files = false;      ///< its directories are those of all nodes
  std::filesystem::path file;     ///< `{data_dir}/gateway.db`
  std::filesystem::path backups;  ///< copies made before migrations
  RecordCopy::Progress progress;
  std::function<void(Connection&)> index;  ///< on the server: adds to search indexes what no trigger adds
};

/// Returns how many rows there are. Renames the file at the end; it stays as it was. `cluster init`.
struct MovedRecords {
  std::uint64_t rows = 0;
  std::filesystem::path file;  ///< the old one, or the new one
  std::string server;          ///< the database's name for people
};
MovedRecords move_to_server(const RecordMove& move);

/// The same back: the file must not be there yet. The server's database stays as it was. `cluster leave`.
MovedRecords move_to_file(const RecordMove& move);

/// Throws StartError if the database is being filled by a move that has not ended.
void require_complete(Connection& connection, const Address& address);

}  // namespace agw::postgres
