#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "models/model.hpp"
#include "storage/connection.hpp"

namespace agw::found_tools_store {

/// The tools that the thread has found, in that order.
std::vector<std::string> list(Connection& connection, const std::string& thread_id);
/// Adds those of `names` that the list does not contain yet. Does nothing if the thread was deleted.
void add(Connection& connection, const std::string& thread_id, const std::vector<std::string>& names);

}  // namespace agw::found_tools_store

namespace agw::tool_search_store {

/// The indexes of the tools whose names, descriptions and arguments match the query best, at most `limit`, best first.
/// Call it outside the loop: it builds an index in memory for this one search (about 10 ms for 300 tools).
std::vector<std::size_t> best(const std::vector<ToolDescription>& tools, std::string_view query, std::size_t limit);

}  // namespace agw::tool_search_store
