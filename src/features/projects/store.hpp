#pragma once

#include <optional>
#include <string>
#include <vector>

#include "features/projects/trusted_files.hpp"
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
/// Returns whether it existed.
bool remove(Connection& connection, const std::string& id);

}  // namespace agw::project_store

namespace agw::trust_store {

/// Returns the trusted files of the project; nullopt if they were never stored.
std::optional<TrustedFiles> find(Connection& connection, const std::string& project_id);
/// Does nothing if the project was deleted.
void put(Connection& connection, const std::string& project_id, const TrustedFiles& files);

}  // namespace agw::trust_store
