#pragma once

#include <filesystem>

namespace agw {

/// The directory of an app, with symlinks resolved. It must be in home, and no name on its path may begin with a dot.
/// In the data directory, only an agent's own directory is allowed; everything else belongs to the gateway. Throws
/// ProcessError with the reason if the directory cannot be used. Blocks.
std::filesystem::path app_directory(const std::filesystem::path& path, const std::filesystem::path& home,
                                    const std::filesystem::path& data_directory);

}  // namespace agw
