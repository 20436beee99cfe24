#pragma once

#include <filesystem>

namespace agw {

/// The directory of an app, resolved through symlinks. It lies in home, not behind a name that begins with a dot, and
/// in the data directory only in an agent's own: everything else there is the gateway's. Throws ProcessError that says
/// what is wrong with it. Blocks.
std::filesystem::path app_directory(const std::filesystem::path& path, const std::filesystem::path& home,
                                    const std::filesystem::path& data_directory);

}  // namespace agw
