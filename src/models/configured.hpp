#pragma once

#include "config/settings.hpp"
#include "models/settings.hpp"

namespace agw {

/// The model services that the settings name, with their keys read. One whose key cannot be had is left out, and the
/// log says why and what to do.
ModelSettings configured_models(const Settings& settings, const Environment& environment);

}  // namespace agw
