#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace agw {

/// Looks up an environment variable. An empty one is treated as unset.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// The environment of this process.
Environment process_environment();

/// Returns the text of a file that a person writes and the gateway reads once at startup (`config.yaml`,
/// `prices.yaml`); nullopt if it does not exist, not even as a dangling symlink. Throws StartError, which names the
/// file, if it cannot be read, is not a regular file, or is larger than 1 MiB.
std::optional<std::string> read_start_file(const std::filesystem::path& file);

}  // namespace agw
