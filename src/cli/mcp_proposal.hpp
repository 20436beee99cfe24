#pragma once

#include <filesystem>
#include <string>

#include "base/json.hpp"

namespace agw::cli {

/// Writes a proposal where the gateway looks for them, as a person could by hand, and gives its name:
/// `mcp/<date>/<name>`. `input` has the members of the tool Propose. Throws std::runtime_error for what is missing.
std::string stage_proposal(const std::filesystem::path& data_directory, const json::object& input);

}  // namespace agw::cli
