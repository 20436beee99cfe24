#pragma once

#include <array>
#include <string_view>

#include "base/data_files.hpp"

namespace agw::cli {

/// A backup is a tar archive of these entries, in this order: what it is, the files of the data directory beneath
/// `data/`, how many they were and the SHA-256 of all before. Without the last it is not whole.
inline constexpr std::string_view backup_head = "agent-gateway-backup.json";
inline constexpr std::string_view backup_data = "data/";
inline constexpr std::string_view backup_end = "end.json";
inline constexpr int backup_version = 1;

/// What of the data directory belongs to one host and one moment and is never in a backup, by its name there.
inline constexpr std::array<std::string_view, 8> never_backed_up = {
    data_files::token,    data_files::lock, "gateway.db-wal", "gateway.db-shm",
    "gateway.db-journal", "logs",           "backups",        "open.html"};

}  // namespace agw::cli
