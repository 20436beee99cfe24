#pragma once

#include <filesystem>

#include "features/research/types.hpp"

namespace agw {

/// Throws BadRequest `invalid domain config` with all problems as `details`.
DomainConfig read_domain_config(const json::object& body);

/// Throws the same.
ResearchPlan read_research_plan(const json::object& settings);

/// The same paths with their symlinks followed. Throws BadRequest `path must be within home directory: <path>`, and
/// Forbidden `permission denied` for what no agent and no model may see: keys, and the gateway's own files. Both
/// directories are resolved. Blocks.
DomainConfig resolved(DomainConfig config, const std::filesystem::path& home,
                      const std::filesystem::path& data_directory);

}  // namespace agw
