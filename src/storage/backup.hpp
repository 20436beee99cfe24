#pragma once

#include <filesystem>

#include "storage/connection.hpp"

namespace agw {

/// Creates an empty file with mode 0600; SQLite gives its own files next to it the same mode. Throws std::system_error.
void make_private_file(const std::filesystem::path& path);

/// Copies the database into `directory` (created with mode 0700) as `gateway-<time>-schema-<version>.db` (mode 0600)
/// and keeps the three latest copies. Throws DatabaseError, std::system_error.
void back_up(Connection& connection, const std::filesystem::path& directory, int version);

}  // namespace agw
