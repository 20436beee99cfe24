#pragma once

#include <filesystem>

#include "features/research/types.hpp"

namespace agw {

/// Throws BadRequest `invalid domain config` with all problems as `details`.
DomainConfig read_domain_config(const json::object& body);

/// Throws like `read_domain_config`.
ResearchPlan read_research_plan(const json::object& settings);

/// The configuration with the symlinks in its paths resolved. Throws BadRequest `path must be within home directory:
/// <path>`, and Forbidden `permission denied` for files that no agent or model may see: keys, and the gateway's own
/// files. Both directories must be resolved. Blocks.
DomainConfig resolved(DomainConfig config, const std::filesystem::path& home,
                      const std::filesystem::path& data_directory);

}  // namespace agw
