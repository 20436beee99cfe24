#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "storage/connection.hpp"

namespace agw {

/// One step of the schema: a file `src/**/migrations/NNNN_name.sql`. Numbers are given once over all rooms, the next
/// one to whoever comes next. What was released is never changed.
struct Migration {
  int number;
  std::string_view name;  ///< the file's name
  std::string_view sql;
};

/// Those that are compiled in, by number. Throws std::logic_error for a name without a number, or a number given twice.
std::vector<Migration> embedded_migrations();

/// The number of the latest migration that the file has had; 0 for an empty one. Kept as `PRAGMA user_version`.
int schema_version(Connection& connection);

/// Applies in one transaction what the file has not had yet. A file that had some is copied into `backups` first.
/// Throws StartError (1) when that is not possible, DiskFull where there is no space; the file is then as it was.
void migrate(Connection& connection, std::span<const Migration> migrations, const std::filesystem::path& backups);

}  // namespace agw
