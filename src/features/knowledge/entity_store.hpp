#pragma once

#include <optional>
#include <string>
#include <vector>

#include "features/knowledge/page_text.hpp"
#include "features/knowledge/types.hpp"
#include "storage/connection.hpp"

/// The SQL of entities.
namespace agw::entity_store {

/// Stores the entities named on a page. Names are compared without case. Entities of different types are different; a
/// name without a type refers to the known entity of that name. `ids` has an id for each entity, used if the entity is
/// new.
void name_on_page(Connection& connection, std::int64_t page, const std::vector<NamedEntity>& entities,
                  const std::vector<std::string>& ids);
/// Removes the page's entities and returns their numbers.
std::vector<std::int64_t> forget_page(Connection& connection, std::int64_t page);
/// Removes the given entities that no page names any more.
void forget_unnamed(Connection& connection, const std::vector<std::int64_t>& entities);

/// Entities in the order in which they were added, each with its pages sorted by slug.
std::vector<Entity> list(Connection& connection, const EntityQuery& query);
std::optional<Entity> find(Connection& connection, const std::string& id);

}  // namespace agw::entity_store
