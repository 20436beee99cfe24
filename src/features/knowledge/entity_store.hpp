#pragma once

#include <optional>
#include <string>
#include <vector>

#include "features/knowledge/page_text.hpp"
#include "features/knowledge/types.hpp"
#include "storage/connection.hpp"

/// The SQL of entities.
namespace agw::entity_store {

/// Notes what a page names. Upper and lower case do not tell things apart; a type does, and a name without one is the
/// thing of that name that is known. `ids` are for those that are new, one for each.
void name_on_page(Connection& connection, std::int64_t page, const std::vector<NamedEntity>& entities,
                  const std::vector<std::string>& ids);
/// Gives what the page named until now.
std::vector<std::int64_t> forget_page(Connection& connection, std::int64_t page);
/// Removes those of them that no page names any more.
void forget_unnamed(Connection& connection, const std::vector<std::int64_t>& entities);

/// In the order in which they became known, each with its pages by slug.
std::vector<Entity> list(Connection& connection, const EntityQuery& query);
std::optional<Entity> find(Connection& connection, const std::string& id);

}  // namespace agw::entity_store
