#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

#include "io/files/lock_file.hpp"

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

/// In the data directory, what no other gateway uses (config/data_directory.hpp). Throws StartError if nodes share it
/// and the configuration is wrong, or neither it nor the environment names one.
std::filesystem::path own_directory(const std::filesystem::path& data_directory);

/// The gateway that runs on the data directory, or that starts or ends there. Throws as `own_directory` does.
std::optional<RunningGateway> running_gateway(const std::filesystem::path& data_directory);

/// Finds the gateway by its lock, and waits briefly for one that is starting. Throws StartError (not_running) if nobody
/// holds the lock, so that the token is sent to nobody else.
FoundGateway find_gateway(const std::optional<std::string>& data_dir_flag);

/// Whether a gateway that was just started is ready within a few seconds.
bool wait_until_up(const std::filesystem::path& data_directory);

/// `url` with an address of this machine that others can reach instead of `0.0.0.0` or `[::]`, which mean all of its
/// addresses and are useless elsewhere. Uses loopback if there is no other.
std::string with_reachable_host(std::string url);

/// `public_url` from the gateway's configuration file, without a trailing slash; empty if it is not set. Throws
/// StartError if the file is invalid.
std::string configured_public_url(const FoundGateway& gateway);

/// Finds the gateway on the data directory, or starts `agw serve` on it in the background, where it outlives this
/// program. `has_run`: it ran before, so a restart may be under way, for which it waits a moment. Throws StartError
/// with the first line that the gateway printed on its standard error if it does not start.
FoundGateway find_or_start_gateway(const std::optional<std::string>& data_dir_flag, bool has_run);

}  // namespace agw::cli
