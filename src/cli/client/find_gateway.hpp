#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

#include "io/files/lock_file.hpp"

namespace agw::cli {

/// A gateway running on a data directory.
struct FoundGateway {
  std::filesystem::path data_directory;
  pid_t pid = 0;
  std::string url;                   ///< `http://127.0.0.1:7420`, or `https://`
  std::string certificate;           ///< the fingerprint in its lock file; empty without TLS
  std::optional<std::string> token;  ///< nullopt if the data directory has none
};

/// The data directory, chosen as `agw serve` does: the flag, otherwise the environment, otherwise the default.
std::filesystem::path data_directory(const std::optional<std::string>& flag);

/// The part of the data directory for this gateway alone (config/data_directory.hpp). Throws StartError if nodes share
/// the directory and the configuration is wrong, or neither it nor the environment names a node.
std::filesystem::path own_directory(const std::filesystem::path& data_directory);

/// The gateway that runs, starts or stops on the data directory. Throws like `own_directory`.
std::optional<RunningGateway> running_gateway(const std::filesystem::path& data_directory);

/// Finds the gateway by its lock, and waits briefly if it is starting. Throws StartError (not_running) if the lock is
/// free, so that the token is never sent to another program.
FoundGateway find_gateway(const std::optional<std::string>& data_dir_flag);

/// Whether a gateway that was just started becomes ready within a few seconds.
bool wait_until_up(const std::filesystem::path& data_directory);

/// `url` with an address of this machine that others can reach instead of `0.0.0.0` or `[::]`, which mean all addresses
/// and are useless elsewhere. Uses loopback if there is no other.
std::string with_reachable_host(std::string url);

/// `public_url` from the gateway's configuration file, without a trailing slash; empty if not set. Throws StartError if
/// the file is invalid.
std::string configured_public_url(const FoundGateway& gateway);

/// Finds the gateway on the data directory, or starts `agw serve` in the background, where it outlives this program. If
/// `has_run`, the gateway ran before and may be restarting, so this function waits briefly. Throws StartError with the
/// first line from the gateway's standard error if it does not start.
FoundGateway find_or_start_gateway(const std::optional<std::string>& data_dir_flag, bool has_run);

}  // namespace agw::cli
