#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace agw::cli {

/// The systemd user unit that runs `program serve`, with `--data-dir` if given.
std::string service_unit(const std::filesystem::path& program, const std::optional<std::string>& data_dir);

}  // namespace agw::cli
