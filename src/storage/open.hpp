#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "storage/connection.hpp"
#include "storage/migration.hpp"

namespace agw {

/// Opens the gateway's database, or creates it with mode 0600, in WAL mode and with all `migrations`. Checks what is
/// cheap to check: the file's form and length, its schema, and all pages of a small file or the root pages of a large
/// one. Throws StartError: 5 if the file is damaged, belongs to another program or to a newer gateway (it and its log
/// are left unchanged), 1 if it cannot be read or written. Throws DiskFull if there is no space for its own writes.
std::unique_ptr<Connection> open_database(const std::filesystem::path& file, const std::filesystem::path& backups,
                                          std::span<const Migration> migrations);

/// For damage that is only found when the open database is read: throws the StartError that `open_database` would have
/// thrown.
[[noreturn]] void refuse_database(const std::filesystem::path& file, const std::filesystem::path& backups,
                                  const DatabaseError& error);

}  // namespace agw
