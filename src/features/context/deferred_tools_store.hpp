#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "models/model.hpp"
#include "storage/connection.hpp"

namespace agw::found_tools_store {

/// In the order in which they were found.
std::vector<std::string> list(Connection& connection, const std::string& thread_id);
/// Adds those of `names` that the list does not have yet. Nothing happens if the thread was deleted.
void add(Connection& connection, const std::string& thread_id, const std::vector<std::string>& names);

}  // namespace agw::found_tools_store

namespace agw::tool_search_store {

/// The numbers of the tools that match the query best, at most `limit`, best first: by their names, descriptions and
/// arguments. Builds an index in memory for the one search (about 10 ms for 300 tools), so not on the loop.
std::vector<std::size_t> best(const std::vector<ToolDescription>& tools, std::string_view query, std::size_t limit);

}  // namespace agw::tool_search_store
