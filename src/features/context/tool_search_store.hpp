#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "models/model.hpp"

namespace agw::tool_search_store {

/// The numbers of the tools that match the query best, at most `limit`, best first: by their names, descriptions and
/// arguments. Builds an index in memory for the one search (about 10 ms for 300 tools), so not on the loop.
std::vector<std::size_t> best(const std::vector<ToolDescription>& tools, std::string_view query, std::size_t limit);

}  // namespace agw::tool_search_store
