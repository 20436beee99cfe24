#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "features/placements/types.hpp"
#include "storage/connection.hpp"

/// The SQL of placements, for PostgreSQL only.
namespace agw::placement_store {

std::map<std::string, Placement, std::less<>> all(Connection& connection);
std::optional<Placement> find(Connection& connection, const std::string& extension_id);

/// Returns the placement if it was free or is this node's already; nullopt if another node has it.
std::optional<Placement> claim(Connection& connection, const std::string& extension_id);
/// Like `claim`, but only if some node should run the program.
std::optional<Placement> take(Connection& connection, const std::string& extension_id);
void set_state(Connection& connection, const std::string& extension_id, const std::string& state);

// If the placement is free or this node's.

void offer(Connection& connection, const std::string& extension_id);
void remove(Connection& connection, const std::string& extension_id);

/// If the placement is free.
void remove_free(Connection& connection, const std::string& extension_id);

void free_all(Connection& connection);

}  // namespace agw::placement_store
