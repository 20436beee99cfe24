#pragma once

#include <optional>
#include <string>

namespace agw {

/// The arguments of `agw serve`. Each overrides the environment, the configuration file and the default.
struct ServeOptions {
  std::optional<std::string> restart;  ///< `auto`, `exec` or `exit`: see `docs/contract/process.md`
  std::optional<std::string> host;
  std::optional<int> port;  ///< 0 to 65535; 0 picks a free one
  std::optional<std::string> data_dir;
  std::optional<std::string> config;  ///< the path of a file instead of `{data_dir}/config.yaml`
  bool no_token = false;
  bool trace_loop = false;               ///< log what holds the event loop for over a millisecond
  std::optional<std::string> log_level;  ///< `trace`, `debug`, `info`, `warn`, `error` or `off`
};

/// Runs the gateway in the foreground until it is stopped, and returns its exit status. If it
/// cannot start, the reason is on stderr.
int serve(const ServeOptions& options);

}  // namespace agw
