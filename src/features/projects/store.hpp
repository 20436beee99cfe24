#pragma once

#include <optional>
#include <string>
#include <vector>

#include "features/projects/types.hpp"
#include "storage/connection.hpp"

/// The SQL of projects.
namespace agw::project_store {

/// In the order of creation.
std::vector<Project> all(Connection& connection);
std::optional<Project> find(Connection& connection, const std::string& id);
void insert(Connection& connection, const Project& project);
/// Writes name, path, description, trusted and updated_at.
void update(Connection& connection, const Project& project);
/// Whether it existed.
bool remove(Connection& connection, const std::string& id);

}  // namespace agw::project_store
