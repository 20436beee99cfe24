#pragma once

#include <filesystem>

namespace agw::cli {

/// Unpacks the data directory that a backup holds into `target`, an empty directory. Throws std::runtime_error for an
/// archive that is damaged, not whole, from elsewhere, or of a newer gateway, and for one that holds what no backup
/// does: paths that lead out, links, devices, a token, a file twice. `target` then holds part of it, to be thrown away.
void unpack_backup(const std::filesystem::path& archive, const std::filesystem::path& target);

}  // namespace agw::cli
