#pragma once

#include <filesystem>

#include "storage/connection.hpp"

namespace agw {

/// Makes an empty file with mode 0600; SQLite gives the same mode to the files beside it. Throws std::system_error.
void make_private_file(const std::filesystem::path& path);

/// Copies the database into `directory` (made with mode 0700) as `gateway-<time>-schema-<version>.db` (mode 0600) and
/// keeps the three latest such copies. Throws DatabaseError, std::system_error.
void back_up(Connection& connection, const std::filesystem::path& directory, int version);

}  // namespace agw
