#include "features/extensions/store.hpp"

#include <stdexcept>

namespace agw::extension_store {

namespace {

#define EXTENSION_COLUMNS                                                                                        \
  "position, id, type, name, description, definition, trigger_def, source, enabled, owner_agent_id, essential, " \
  "created_at, updated_at"

template <class E>
E listed(const Statement& row, int column) {
  const auto value = from_text<E>(row.text(column));
  if (!value) throw std::runtime_error("the table extensions holds an unknown value: " + row.string(column));
  return *value;
}

Row read(const Statement& row) {
  Row read;
  read.position = row.integer(0);
  auto& extension = read.extension;
  extension.id = row.text(1);
  extension.type = listed<ExtensionType>(row, 2);
  extension.name = row.text(3);
  extension.description = row.text(4);
  extension.definition = Definition::stored(row.text(5));
  if (!row.is_null(6)) extension.trigger_def = Definition::stored(row.text(6));
  extension.source = listed<Source>(row, 7);
  extension.enabled = row.boolean(8);
  extension.owner_agent_id = row.optional_string(9);
  extension.essential = row.boolean(10);
  extension.created_at = row.time(11);
  extension.updated_at = row.time(12);
  return read;
}

std::optional<Row> first(Statement& statement) {
  if (!statement.step()) return std::nullopt;
  return read(statement);
}

/// Binds what both an insertion and an update write.
void bind_members(Statement& statement, const Extension& extension) {
  std::optional<std::string_view> trigger;
  if (extension.trigger_def) trigger = extension.trigger_def->text();
  statement.bind(":id", extension.id)
      .bind(":type", to_text(extension.type))
      .bind(":name", extension.name)
      .bind(":description", extension.description)
      .bind(":definition", extension.definition.text())
      .bind(":trigger_def", trigger)
      .bind(":enabled", extension.enabled)
      .bind(":essential", extension.essential)
      .bind(":updated_at", extension.updated_at);
}

}  // namespace

std::vector<Row> all(Connection& connection) {
  std::vector<Row> rows;
  auto row = connection.prepare("SELECT " EXTENSION_COLUMNS " FROM extensions ORDER BY position");
  while (row.step()) rows.push_back(read(row));
  return rows;
}

std::optional<Row> find(Connection& connection, std::string_view id) {
  auto row = connection.prepare("SELECT " EXTENSION_COLUMNS " FROM extensions WHERE id = :id");
  row.bind(":id", id);
  return first(row);
}

std::optional<Row> find_named(Connection& connection, std::string_view name) {
  auto row = connection.prepare("SELECT " EXTENSION_COLUMNS " FROM extensions WHERE name = :name");
  row.bind(":name", name);
  return first(row);
}

std::int64_t insert(Connection& connection, const Extension& extension) {
  auto statement = connection.prepare(
      "INSERT INTO extensions (id, type, name, description, definition, trigger_def, source, enabled, owner_agent_id, "
      "essential, created_at, updated_at) VALUES (:id, :type, :name, :description, :definition, :trigger_def, :source, "
      ":enabled, :owner_agent_id, :essential, :created_at, :updated_at)");
  bind_members(statement, extension);
  statement.bind(":source", to_text(extension.source))
      .bind(":owner_agent_id", extension.owner_agent_id)
      .bind(":created_at", extension.created_at)
      .run();
  return connection.last_insert_rowid();
}

void update(Connection& connection, const Extension& extension) {
  auto statement = connection.prepare(
      "UPDATE extensions SET type = :type, name = :name, description = :description, definition = :definition, "
      "trigger_def = :trigger_def, enabled = :enabled, essential = :essential, updated_at = :updated_at WHERE id = "
      ":id");
  bind_members(statement, extension);
  statement.run();
}

void remove(Connection& connection, std::string_view id) {
  connection.prepare("DELETE FROM extensions WHERE id = :id").bind(":id", id).run();
}

void remember_deleted_built_in(Connection& connection, std::string_view name) {
  connection.prepare("INSERT INTO deleted_built_ins (name) VALUES (:name)").bind(":name", name).run();
}

bool is_deleted_built_in(Connection& connection, std::string_view name) {
  auto row = connection.prepare("SELECT 1 FROM deleted_built_ins WHERE name = :name");
  return row.bind(":name", name).step();
}

std::string written_built_ins(Connection& connection) {
  auto row = connection.prepare("SELECT content_id FROM written_built_ins");
  return row.step() ? row.string(0) : std::string();
}

void set_written_built_ins(Connection& connection, std::string_view content_id) {
  connection
      .prepare(
          "INSERT INTO written_built_ins (only, content_id) VALUES (1, :content_id) "
          "ON CONFLICT (only) DO UPDATE SET content_id = :content_id")
      .bind(":content_id", content_id)
      .run();
}

}  // namespace agw::extension_store
