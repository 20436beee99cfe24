#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "storage/connection.hpp"

namespace agw {

/// Creates an empty file with mode 0600; SQLite gives its own files next to it the same mode. Throws std::system_error.
void make_private_file(const std::filesystem::path& path);

/// Copies the database into `directory` (created with mode 0700) as `gateway-<time>-schema-<version>.db` (mode 0600)
/// and keeps the three latest copies. Throws DatabaseError, std::system_error.
void back_up(Connection& connection, const std::filesystem::path& directory, int version);

/// The latest of these copies whose schema is not above `version`; none if there is no such copy or no directory.
std::optional<std::filesystem::path> latest_copy(const std::filesystem::path& directory, int version);

/// Called with the number of bytes copied so far and in total.
using SnapshotProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// Copies a database, which a gateway may be writing to, into the new file `to` (mode 0600), as it was at one moment.
/// Does not block writers: the copy reads an old snapshot of the pages and is written to disk in small pieces, so that
/// no commit waits for a gigabyte of writes. Throws DatabaseError, std::system_error. Blocks.
void snapshot_database(const std::filesystem::path& from, const std::filesystem::path& to,
                       const SnapshotProgress& progress);

/// Checks a gateway's database: returns the problem, for people, or nullopt if every page and index is intact and this
/// program knows the schema. Reads the whole file and changes nothing; a gateway may be using it. Blocks.
std::optional<std::string> database_problem(const std::filesystem::path& file);

/// The same in less time, and gently: neither compares indexes with their tables nor looks at the schema, reads one
/// table after the other, and rests four times as long as each took, so that a gateway and others have the disk.
std::optional<std::string> quick_database_problem(const std::filesystem::path& file);

}  // namespace agw
