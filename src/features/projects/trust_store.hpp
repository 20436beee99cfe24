#pragma once

#include <optional>
#include <string>

#include "features/projects/trusted_files.hpp"
#include "storage/connection.hpp"

namespace agw::trust_store {

/// What the person has trusted in the project; no value if that was never stored.
std::optional<TrustedFiles> find(Connection& connection, const std::string& project_id);
/// Nothing happens if the project was deleted.
void put(Connection& connection, const std::string& project_id, const TrustedFiles& files);

}  // namespace agw::trust_store
