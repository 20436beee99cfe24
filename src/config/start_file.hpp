#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace agw {

/// The text of a file that a person writes and the gateway reads once, when it starts (`config.yaml`, `prices.yaml`):
/// nothing where there is none, not even a link that leads nowhere. Throws StartError, which names the file, where it
/// cannot be read, is no regular file, or is larger than any of its kind (1 MiB).
std::optional<std::string> read_start_file(const std::filesystem::path& file);

}  // namespace agw
