#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "features/placements/types.hpp"
#include "storage/connection.hpp"

/// The SQL of placements, for databases of PostgreSQL.
namespace agw::placement_store {

std::map<std::string, Placement, std::less<>> all(Connection& connection);
std::optional<Placement> find(Connection& connection, const std::string& extension_id);

/// The placement with this node if it is free or this node's already; nullopt if another one has it.
std::optional<Placement> claim(Connection& connection, const std::string& extension_id);
/// The same, only if a node was to run it.
std::optional<Placement> take(Connection& connection, const std::string& extension_id);
void tell(Connection& connection, const std::string& extension_id, const std::string& state);

// If it is free or this node's.

void offer(Connection& connection, const std::string& extension_id);
void remove(Connection& connection, const std::string& extension_id);

/// If it is free.
void remove_free(Connection& connection, const std::string& extension_id);

void free_all(Connection& connection);

}  // namespace agw::placement_store
