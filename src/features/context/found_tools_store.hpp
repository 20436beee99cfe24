#pragma once

#include <string>
#include <vector>

#include "storage/connection.hpp"

namespace agw::found_tools_store {

/// In the order in which they were found.
std::vector<std::string> list(Connection& connection, const std::string& thread_id);
/// Adds those of `names` that the list does not have yet. Nothing happens if the thread was deleted.
void add(Connection& connection, const std::string& thread_id, const std::vector<std::string>& names);

}  // namespace agw::found_tools_store
