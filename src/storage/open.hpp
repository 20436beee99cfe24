#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "storage/connection.hpp"
#include "storage/migration.hpp"

namespace agw {

/// Opens the gateway's database, or creates it with mode 0600, in WAL mode and with all `migrations`. Runs only
/// inexpensive checks: the header, the length, the schema, and all pages of a small file or the root pages of a large
/// one. Throws StartError: 5 if the file is damaged, belongs to another program or to a newer gateway (the file and its
/// log are not changed), 1 if it cannot be read or written. Throws DiskFull if there is no space for its own writes.
std::unique_ptr<Connection> open_database(const std::filesystem::path& file, const std::filesystem::path& backups,
                                          std::span<const Migration> migrations);

/// The address for `Connection` of a file that nobody changes and that has no log: reading it creates no files beside
/// it.
std::string immutable_address(const std::filesystem::path& file);

/// For damage found only when the open database is read: throws the same StartError as `open_database`.
[[noreturn]] void refuse_database(const std::filesystem::path& file, const std::filesystem::path& backups,
                                  const DatabaseError& error);

}  // namespace agw
