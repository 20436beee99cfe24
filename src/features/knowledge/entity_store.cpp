#include "features/knowledge/entity_store.hpp"

#include "base/async/assert.hpp"
#include "base/text/utf8.hpp"

namespace agw::entity_store {

namespace {

std::optional<std::int64_t> known(Connection& connection, const NamedEntity& entity) {
  auto row = connection.prepare(
      "SELECT number FROM entities WHERE folded = :folded AND (:type IS NULL OR type IS NULL OR type = :type) "
      "ORDER BY type IS NOT DISTINCT FROM :type DESC, number LIMIT 1");
  row.bind(":folded", lower_case(entity.name)).bind(":type", entity.type);
  if (!row.step()) return std::nullopt;
  return row.integer(0);
}

std::int64_t add(Connection& connection, const NamedEntity& entity, const std::string& id) {
  auto row = connection.prepare(
      "INSERT INTO entities (id, folded, name, type) VALUES (:id, :folded, :name, :type) RETURNING number");
  row.bind(":id", id).bind(":folded", lower_case(entity.name)).bind(":name", entity.name).bind(":type", entity.type);
  const bool has_number = row.step();
  AGW_ASSERT(has_number);
  return row.integer(0);
}

void learn_type(Connection& connection, std::int64_t number, const std::optional<std::string>& type) {
  if (!type) return;
  connection.prepare("UPDATE entities SET type = :type WHERE number = :number AND type IS NULL")
      .bind(":type", *type)
      .bind(":number", number)
      .run();
}

/// Derives the type from the remaining pages. The first row usually confirms the current type.
void unlearn_type(Connection& connection, std::int64_t number) {
  connection
      .prepare(
          "UPDATE entities SET type = (SELECT min(type) FROM entity_pages WHERE entity = :number) WHERE number = "
          ":number AND type IS NOT NULL AND NOT EXISTS (SELECT 1 FROM entity_pages WHERE entity = :number AND "
          "entity_pages.type = entities.type)")
      .bind(":number", number)
      .run();
}

std::vector<EntityPage> pages_of(Connection& connection, std::int64_t entity) {
  std::vector<EntityPage> pages;
  auto row = connection.prepare(
      "SELECT slug, title, scope FROM entity_pages JOIN knowledge_pages ON number = page WHERE entity = :entity "
      "ORDER BY slug, scope");
  row.bind(":entity", entity);
  while (row.step()) pages.push_back({row.string(0), row.string(1), row.string(2)});
  return pages;
}

Entity read(Connection& connection, const Statement& row) {
  return {row.string(1), row.string(2), row.optional_string(3), pages_of(connection, row.integer(0))};
}

}  // namespace

void name_on_page(Connection& connection, std::int64_t page, const std::vector<NamedEntity>& entities,
                  const std::vector<std::string>& ids) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(entities.size() == ids.size());
  for (std::size_t i = 0; i < entities.size(); ++i) {
    const auto found = known(connection, entities[i]);
    const auto number = found ? *found : add(connection, entities[i], ids.at(i));
    learn_type(connection, number, entities[i].type);
    connection
        .prepare(
            "INSERT INTO entity_pages (entity, page, type) VALUES (:entity, :page, :type) ON CONFLICT (entity, page) "
            "DO UPDATE SET type = coalesce(entity_pages.type, excluded.type)")
        .bind(":entity", number)
        .bind(":page", page)
        .bind(":type", entities[i].type)
        .run();
  }
}

std::vector<std::int64_t> forget_page(Connection& connection, std::int64_t page) {
  AGW_ASSERT(connection.in_transaction());
  std::vector<std::int64_t> entities;
  auto row = connection.prepare("DELETE FROM entity_pages WHERE page = :page RETURNING entity");
  row.bind(":page", page);
  while (row.step()) entities.push_back(row.integer(0));
  for (const auto entity : entities) unlearn_type(connection, entity);
  return entities;
}

void forget_unnamed(Connection& connection, const std::vector<std::int64_t>& entities) {
  for (const auto entity : entities) {
    connection
        .prepare(
            "DELETE FROM entities WHERE number = :number AND NOT EXISTS (SELECT 1 FROM entity_pages WHERE entity = "
            ":number)")
        .bind(":number", entity)
        .run();
  }
}

std::vector<Entity> list(Connection& connection, const EntityQuery& query) {
  std::vector<Entity> entities;
  auto row = connection.prepare(
      Sql{"SELECT number, id, name, type FROM entities WHERE (:q IS NULL OR instr(folded, :q) > 0) AND (:type IS NULL "
          "OR type = :type) ORDER BY number",
          "SELECT number, id, name, type FROM entities WHERE (:q IS NULL OR strpos(folded, :q) > 0) AND (:type IS NULL "
          "OR type = :type) ORDER BY number"});
  row.bind(":q", query.q ? std::optional(lower_case(*query.q)) : std::nullopt).bind(":type", query.type);
  while (row.step()) entities.push_back(read(connection, row));
  return entities;
}

std::optional<Entity> find(Connection& connection, const std::string& id) {
  auto row = connection.prepare("SELECT number, id, name, type FROM entities WHERE id = :id");
  row.bind(":id", id);
  if (!row.step()) return std::nullopt;
  return read(connection, row);
}

}  // namespace agw::entity_store
