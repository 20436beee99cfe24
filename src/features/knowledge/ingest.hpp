#pragma once

#include <string>

#include "features/knowledge/service.hpp"
#include "io/files/directory.hpp"

namespace agw {

/// Writes the source as a Markdown file with its origin in the head, below the agent's raw sources. A file of that name
/// from another origin is kept. Returns the path, relative to the data directory. Throws std::system_error. Blocks: not
/// for the loop.
std::string store_source(const Directory& data_directory, const NewSource& source);

}  // namespace agw
