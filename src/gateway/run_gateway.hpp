#pragma once

#include "base/error.hpp"
#include "config/data_directory.hpp"
#include "config/settings.hpp"
#include "io/files/lock_file.hpp"

namespace agw {

/// How a gateway ended.
struct GatewayEnd {
  ExitStatus status = ExitStatus::success;
  int port = 0;  ///< that it listened on
};

/// Runs the gateway over its data directory until it is stopped. With `trace_loop`, it logs each callback that holds
/// the loop for over a millisecond. Throws StartError for what keeps it from starting.
GatewayEnd run_gateway(const DataDirectory& directory, const Settings& settings, LockFile& lock, bool trace_loop);

}  // namespace agw
