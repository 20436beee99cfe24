#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "storage/connection.hpp"

namespace agw {

/// Creates an empty file with mode 0600. SQLite gives its auxiliary files the same mode. Throws std::system_error.
void make_private_file(const std::filesystem::path& path);

/// Copies the database into `directory` (created with mode 0700) as `gateway-<time>-schema-<version>.db` (mode 0600)
/// and keeps the three latest copies. Throws DatabaseError, std::system_error.
void back_up(Connection& connection, const std::filesystem::path& directory, int version);

/// The latest of these copies whose schema is not newer than `version`; nullopt if there is none.
std::optional<std::filesystem::path> latest_copy(const std::filesystem::path& directory, int version);

/// Called with the number of bytes copied so far and in total.
using SnapshotProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// Copies a database into the new file `to` (mode 0600) as a consistent snapshot; a gateway may be writing to it. Does
/// not block writers: the copy reads an old snapshot of the pages and is flushed in small pieces, so that no commit
/// waits for a gigabyte of writes. Throws DatabaseError, std::system_error. Blocks.
void snapshot_database(const std::filesystem::path& from, const std::filesystem::path& to,
                       const SnapshotProgress& progress);

/// Why a database cannot be used.
struct DatabaseProblem {
  std::string what;              ///< continues a sentence that begins with the file, such as `is damaged: …`
  bool is_schema_newer = false;  ///< a newer version of this program can use it

  /// The sentence about this file.
  std::string of(const std::filesystem::path& file) const { return file.string() + " " + what; }
};

/// Checks a gateway's database. Returns nullopt if every page and index is intact and this program knows the schema.
/// Reads the whole file without changing it; a gateway may be using it. Blocks.
std::optional<DatabaseProblem> database_problem(const std::filesystem::path& file);

/// Who uses a file that is checked.
enum class FileUse {
  shared,    ///< a gateway may: the check pauses after each table four times as long as the table took
  exclusive  ///< nobody else: the check creates no files beside it
};

/// A quicker check: it neither compares indexes with their tables nor checks the schema. Blocks.
std::optional<DatabaseProblem> quick_database_problem(const std::filesystem::path& file, FileUse use);

}  // namespace agw
