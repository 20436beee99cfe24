#pragma once

#include <optional>
#include <string>

#include "cli/client/find_gateway.hpp"

namespace agw::cli {

/// Finds the gateway on the data directory, or starts `agw serve` on it in the background, where it outlives this
/// program. `has_run`: it ran before, so a restart may be under way, for which it waits a moment. Throws StartError
/// with the first line that the gateway printed on its standard error if it does not start.
FoundGateway find_or_start_gateway(const std::optional<std::string>& data_dir_flag, bool has_run);

}  // namespace agw::cli
