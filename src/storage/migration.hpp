#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "storage/connection.hpp"

namespace agw {

/// One step of the schema: a file `src/**/migrations/NNNN_name.sql`. Numbers are unique over all folders. A released
/// migration is never changed.
/// Example: src/storage/migration_test.cpp: MigrationTest.AnEmptyFileAndTheOldestOneEndWithTheSameSchema
struct Migration {
  int number;
  std::string_view name;  ///< the file's name
  std::string_view sql;
};

/// The embedded migrations in folders of that name (`postgres` means `migrations/postgres`), by number. Throws
/// InternalError for a name without a number and for a duplicate number.
std::vector<Migration> embedded_migrations(std::string_view folder = "migrations");

/// The number of the latest applied migration; 0 for an empty file. Stored as `PRAGMA user_version`.
int schema_version(Connection& connection);

/// Applies the missing migrations in one transaction. Copies the file into `backups` first, unless it is empty. Throws
/// StartError (1) if that fails, DiskFull if there is no space; the file is then unchanged.
void migrate(Connection& connection, std::span<const Migration> migrations, const std::filesystem::path& backups);

}  // namespace agw
