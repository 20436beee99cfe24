#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/async/task.hpp"
#include "cli/client/find_gateway.hpp"
#include "config/data_directory.hpp"
#include "config/settings.hpp"

namespace agw::cli {

/// The result of one check of `agw doctor`.
struct CheckResult {
  enum class State {
    good,
    skipped,  ///< could not be checked
    warning,  ///< works, but not completely or not for long
    failure,
  };
  std::string check;
  State state = State::good;
  std::string what;
  std::string remedy{};  ///< empty if there is nothing to do
};
using CheckResults = std::vector<CheckResult>;

/// The remedy if another file occupies a path that the gateway needs.
std::string obstruction_remedy(const std::filesystem::path& path);

/// The input of the checks.
struct DoctorContext {
  DataDirectory directory;
  std::optional<Settings> settings;     ///< nullopt if the configuration is invalid
  std::optional<FoundGateway> gateway;  ///< nullopt if no gateway runs
};

/// own_directory of find_gateway.hpp; nullopt if it cannot be determined.
std::optional<std::filesystem::path> own_directory_of(const DoctorContext& context);

/// Whether the data directory cannot be entered. `check_files` says so, and nothing else about it can be checked.
bool is_closed_to_us(const DoctorContext& context);

/// Checks modes and owners of the data directory and of secret files in it.
CheckResults check_files(const DoctorContext& context);
/// Checks `config.yaml`. Sets `settings`.
CheckResults check_configuration(DoctorContext& context);
/// Checks everything else that could prevent the start of `agw serve`: prices, TLS, the address, the log, files instead
/// of directories.
CheckResults check_start(const DoctorContext& context);
/// Checks that the database is intact, writable and of a known version.
CheckResults check_database(const DoctorContext& context);
/// Checks that the server of `cluster.database`, which must be set, is reachable and suitable.
CheckResults check_database_server(const DoctorContext& context);
/// Checks that the server of `cluster.events` is reachable; no result if it is not set.
CheckResults check_events_server(const DoctorContext& context);
/// Checks disk space, the clock, and whether agents' commands can be sandboxed.
CheckResults check_host(const DoctorContext& context);
/// Checks the lock, the port and the token. Sets `gateway`.
Task<CheckResults> check_gateway(DoctorContext& context, std::optional<std::string> data_dir);
/// Checks that a model is configured, responds, and accepts its key, and that the default model exists.
Task<CheckResults> check_models(Loop& loop, const DoctorContext& context);
/// Checks that the configured search service has what it needs; no result if none is configured.
CheckResults check_web_search(const DoctorContext& context);
/// Checks that the programs of enabled apps are installed.
Task<CheckResults> check_apps(const DoctorContext& context);

}  // namespace agw::cli
