#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

namespace agw::cli {

/// The gateway that runs on a data directory.
struct FoundGateway {
  std::filesystem::path data_directory;
  pid_t pid = 0;
  std::string url;                   ///< `http://127.0.0.1:7420`, or `https://`
  std::string certificate;           ///< that it shows, as its lock file says; empty without TLS
  std::optional<std::string> token;  ///< nothing where the data directory has none
};

/// `{data_dir}`, as `agw serve` would choose it: the flag, else the environment, else the default.
std::filesystem::path data_directory(const std::optional<std::string>& flag);

/// Finds the gateway by its lock, and waits a little for one that is just starting. Throws StartError (not_running)
/// where nobody holds the lock, so that the token goes to nobody else.
FoundGateway find_gateway(const std::optional<std::string>& data_dir_flag);

/// Whether a gateway that was just started serves within a few seconds.
bool comes_up(const std::filesystem::path& data_directory);

}  // namespace agw::cli
