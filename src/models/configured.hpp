#pragma once

#include "config/settings.hpp"
#include "models/settings.hpp"

namespace agw {

/// Returns the model services that the settings name, with their keys. A service whose key cannot be read is left out;
/// the log says why and what to do.
ModelSettings configured_models(const Settings& settings, const Environment& environment);

}  // namespace agw
