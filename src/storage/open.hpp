#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "storage/connection.hpp"
#include "storage/migration.hpp"

namespace agw {

/// Opens the gateway's database, or creates it with mode 0600, in WAL mode and with all `migrations`. Checks what is
/// cheap to check: form and length of the file, its schema; all pages of a small file, where the tables begin in a
/// large one. Throws StartError: 5 for a file that is damaged, of another program, or of a newer gateway, and leaves it
/// and its log as they were; 1 where it cannot be read or written. Throws DiskFull where there is no space for what it
/// must write.
std::unique_ptr<Connection> open_database(const std::filesystem::path& file, const std::filesystem::path& backups,
                                          std::span<const Migration> migrations);

/// For a fault that shows only when what was opened is read: throws the StartError that `open_database` would.
[[noreturn]] void refuse_database(const std::filesystem::path& file, const std::filesystem::path& backups,
                                  const DatabaseError& error);

}  // namespace agw
