#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/task.hpp"
#include "cli/find_gateway.hpp"
#include "config/data_directory.hpp"
#include "config/settings.hpp"

namespace agw::cli {

/// What one check of `agw doctor` found.
struct Finding {
  enum class State {
    good,
    skipped,  ///< it could not be looked at
    warning,  ///< it works, but not all of it or not for long
    failure,
  };
  std::string check;
  State state = State::good;
  std::string what;
  std::string remedy{};  ///< what to do; empty where nothing is to be done
};
using Findings = std::vector<Finding>;

/// The remedy where something else stands in the place of what the gateway wants to have there.
std::string out_of_the_way(const std::filesystem::path& path);

/// What the checks look at.
struct Patient {
  DataDirectory directory;
  std::optional<Settings> settings;     ///< nothing where the configuration is wrong
  std::optional<FoundGateway> gateway;  ///< nothing where none runs
};

/// Modes and owners of the data directory and of what is secret in it.
Findings check_files(const Patient& patient);
/// Whether `config.yaml` can be read. Fills `settings`.
Findings check_configuration(Patient& patient);
/// Whatever else would keep `agw serve` from starting: prices, TLS, the address, the log, files where directories
/// belong.
Findings check_start(const Patient& patient);
/// Whether the database is whole, writable and of a version that this program knows.
Findings check_stored(const Patient& patient);
/// Space on the disk, the clock, and whether commands of agents can be sandboxed.
Findings check_host(const Patient& patient);
/// The lock, the port, the token. Fills `gateway`.
Task<Findings> check_gateway(Patient& patient, std::optional<std::string> data_dir);
/// Whether a model is configured, answers, and takes its key, and whether the default one is among them.
Task<Findings> check_models(Loop& loop, const Patient& patient);
/// Whether the programs that enabled apps need are installed.
Task<Findings> check_apps(const Patient& patient);

}  // namespace agw::cli
