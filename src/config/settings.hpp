#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/log_ids.hpp"
#include "config/environment.hpp"
#include "config/provider_settings.hpp"

namespace agw {

enum class Auth { token, none };
enum class SandboxKind { bubblewrap, none };
enum class TerminalsMode { allow, deny };
enum class ApprovalsMode { ask, never };
enum class ClusterFiles { own, shared };

/// The settings of the gateway. The initial values of the members are the defaults; `config/keys.cpp` documents each
/// one.
/// Example: src/config/settings_test.cpp: SettingsTest.ReadsEveryKeyOfTheFile
struct Settings {
  struct Tls {
    std::filesystem::path cert;  ///< set both or neither
    std::filesystem::path key;
    std::string cert_at;  ///< the line in the file that sets it: `<file>:<line>`
    std::string key_at;
  };
  struct Limits {
    std::int64_t body_mib = 10;
    std::size_t body_bytes() const { return static_cast<std::size_t>(body_mib) << 20; }
    std::int64_t connections = 16384;
  };
  struct Models {
    std::string default_model;  ///< empty: the default of the first configured provider
  };
  struct Tools {
    std::vector<std::string> web_fetch_allow_hosts;
  };
  struct Logging {
    log::Format format = log::Format::text;
  };
  struct WebSearch {
    std::string service;   ///< `brave`, `tavily`, `searxng`; empty: the one set up by the environment
    std::string base_url;  ///< empty: the service's own
    std::string api_key_env;
    std::filesystem::path api_key_file;
  };
  struct Approvals {
    ApprovalsMode mode = ApprovalsMode::ask;
    double timeout_minutes = 10;
  };
  struct Checkpoints {
    std::int64_t file_mib = 10;
    std::int64_t total_mib = 500;
    std::int64_t days = 30;
  };
  struct Retention {
    std::int64_t days = 90;
    std::int64_t turns_per_job_thread = 2'000;
  };

  struct Cluster {
    std::string database;  ///< the URL of a PostgreSQL database; empty: the file gateway.db
    std::string node;      ///< the name of this gateway among the nodes of its cluster; empty: no cluster
    std::string events;    ///< a NATS server over which the nodes exchange events; empty: no exchange
    std::string address;  ///< the address of this node for the others; empty: where it listens, if all are on this host
    ClusterFiles files = ClusterFiles::own;  ///< whether the nodes share one data directory
    std::int64_t drain_seconds = 20;         ///< how long active runs of a node may continue after SIGTERM
  };

  std::string host = "127.0.0.1";
  std::int64_t port = 7420;  ///< 0: any free port
  Auth auth = Auth::token;
  log::Level log_level = log::Level::info;
  Logging logging;
  std::vector<std::string> hosts;
  std::vector<std::string> origins;
  std::string public_url;
  Tls tls;
  Limits limits;
  Models models;
  std::vector<ConfiguredProvider> providers;  ///< in the order of the file
  SandboxKind sandbox = SandboxKind::bubblewrap;
  TerminalsMode terminals = TerminalsMode::allow;  ///< terminals for people
  std::string browser;  ///< the path of the program that chats use as their web browser, or `deny`; empty: find one
  Tools tools;
  WebSearch web_search;
  Approvals approvals;
  std::optional<double> budget_usd_per_day;
  Retention retention;
  Checkpoints checkpoints;
  Cluster cluster;
};

/// The sources of settings, in order of precedence.
struct SettingsSources {
  std::map<std::string, std::string> flags;  ///< from a key's name to its text, for example from `port` to `0`
  Environment environment = process_environment();
  std::filesystem::path file;    ///< YAML
  bool file_must_exist = false;  ///< set by `--config`; otherwise a missing file is treated as empty
};

/// Loads the settings. Throws StartError (usage) with `<file>:<line>: <key>: <why>`, `<variable>: <why>` or `<flag>:
/// <why>` for an invalid value, even if a source with higher precedence overrides it.
Settings load_settings(const SettingsSources& sources);

/// Returns the configuration file that the first start writes: every key with its default, commented out.
std::string example_configuration();

/// Writes the example to `file` unless the file exists. Throws StartError (usage) if it cannot be written.
void write_example_configuration(const std::filesystem::path& file);

}  // namespace agw
