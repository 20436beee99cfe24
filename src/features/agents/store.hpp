#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "features/agents/types.hpp"
#include "storage/connection.hpp"

/// The SQL of the agents' stages. All throw DatabaseError.
namespace agw::agent_store {

/// The stage of every agent whose stage was changed, by id.
std::map<std::string, Stage, std::less<>> stages(Connection& connection);
/// Oldest first.
std::vector<StageStep> stage_history(Connection& connection, std::string_view agent_id);
void add_stage(Connection& connection, std::string_view agent_id, const StageStep& step);

}  // namespace agw::agent_store
