#pragma once

#include <array>
#include <filesystem>
#include <string_view>

#include "base/data_files.hpp"

namespace agw::cli {

/// A backup is a tar archive of these entries, in this order: the manifest, the files of the data directory below
/// `data/`, and the trailer with their number and the SHA-256 of everything before it. A backup without a trailer is
/// incomplete.
inline constexpr std::string_view backup_manifest = "agent-gateway-backup.json";
inline constexpr std::string_view backup_data = "data/";
inline constexpr std::string_view backup_trailer = "end.json";
inline constexpr int backup_version = 1;

/// Names of files in the data directory that are specific to a host or a process and are never in a backup.
inline constexpr std::array<std::string_view, 8> excluded_from_backup = {
    data_files::token,    data_files::lock, "gateway.db-wal", "gateway.db-shm",
    "gateway.db-journal", "logs",           "backups",        "open.html"};

/// Unpacks the data directory from a backup into `target`, an empty directory. Throws std::runtime_error if the archive
/// is damaged, incomplete, not a backup, or of a newer gateway. Also rejects entries that no backup contains: paths
/// that lead out, links, devices, a token, duplicate files. After an exception, delete `target`, which contains a part
/// of the data.
void unpack_backup(const std::filesystem::path& archive, const std::filesystem::path& target);

}  // namespace agw::cli
