#pragma once

#include <filesystem>

namespace agw::cli {

/// Unpacks the data directory of a backup into `target`, an empty directory. Throws std::runtime_error if the archive
/// is damaged, incomplete, not a backup, or of a newer gateway, or contains what no backup does: paths that lead out,
/// links, devices, a token, a file twice. `target` then contains a part of it, to be deleted.
void unpack_backup(const std::filesystem::path& archive, const std::filesystem::path& target);

}  // namespace agw::cli
