#pragma once

#include <string>

#include "features/proposals/targets.hpp"
#include "features/proposals/types.hpp"

namespace agw {

/// Throws BadRequest `validation failed` for a target that names a directory, and for an extension whose target is not
/// an extension's or whose content is not a YAML map; PayloadTooLarge `soul content too large (max 100KB)` for identity
/// files.
void check_proposed(ProposalType type, const TargetPlace& place, const std::string& content);

}  // namespace agw
