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
  std::string certificate;           ///< the fingerprint in its lock file; empty without TLS
  std::optional<std::string> token;  ///< nullopt if the data directory has none
};

/// `{data_dir}` as `agw serve` chooses it: the flag, otherwise the environment, otherwise the default.
std::filesystem::path data_directory(const std::optional<std::string>& flag);

/// Finds the gateway by its lock, and waits briefly for one that is starting. Throws StartError (not_running) if nobody
/// holds the lock, so that the token is sent to nobody else.
FoundGateway find_gateway(const std::optional<std::string>& data_dir_flag);

/// Whether a gateway that was just started is ready within a few seconds.
bool wait_until_up(const std::filesystem::path& data_directory);

}  // namespace agw::cli
