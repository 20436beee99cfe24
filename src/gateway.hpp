#pragma once

#include "base/error.hpp"
#include "config/data_directory.hpp"
#include "config/settings.hpp"
#include "io/files/lock_file.hpp"

namespace agw {

/// Runs the gateway over its data directory until it is stopped. Throws StartError for what keeps it from starting.
ExitStatus run_gateway(const DataDirectory& directory, const Settings& settings, LockFile& lock);

}  // namespace agw
