#pragma once

#include "base/error.hpp"
#include "config/data_directory.hpp"
#include "config/settings.hpp"
#include "io/files/lock_file.hpp"

namespace agw {

/// The result of a gateway's run.
struct GatewayEnd {
  ExitStatus status = ExitStatus::success;
  int port = 0;  ///< the port that it listened on
};

/// What a person has configured. The settings that the gateway runs with can differ, in limits of this machine.
struct Configured {
  SettingsSources sources;
  Settings settings;
};

/// Runs the gateway with its data directory until it is stopped. With `trace_loop`, logs each callback that blocks the
/// loop for over a millisecond. Throws StartError if it cannot start.
GatewayEnd run_gateway(const DataDirectory& directory, const Settings& settings, const Configured& configured,
                       LockFile& lock, bool trace_loop);

}  // namespace agw
