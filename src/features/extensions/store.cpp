#include "features/extensions/store.hpp"

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "storage/columns.hpp"

namespace agw {

template <>
struct ColumnValue<Definition> {
  static Definition read(const Statement& row, int column) { return Definition::stored(row.text(column)); }
  static std::string_view bound(const Definition& definition) { return definition.text(); }
};

}  // namespace agw

namespace agw::extension_store {

namespace {

constexpr auto columns = columns_of<Extension>(
    Column{"id", &Extension::id}, Column{"type", &Extension::type}, Column{"name", &Extension::name},
    Column{"description", &Extension::description}, Column{"definition", &Extension::definition},
    Column{"trigger_def", &Extension::trigger_def}, Column{"source", &Extension::source},
    Column{"enabled", &Extension::enabled}, Column{"owner_agent_id", &Extension::owner_agent_id},
    Column{"essential", &Extension::essential}, Column{"created_at", &Extension::created_at},
    Column{"updated_at", &Extension::updated_at});
constexpr auto changed_columns =
    columns_of<Extension>(Column{"type", &Extension::type}, Column{"name", &Extension::name},
                          Column{"description", &Extension::description}, Column{"definition", &Extension::definition},
                          Column{"trigger_def", &Extension::trigger_def}, Column{"enabled", &Extension::enabled},
                          Column{"essential", &Extension::essential}, Column{"updated_at", &Extension::updated_at});

std::string select(std::string_view rest) {
  return fmt::format("SELECT {}, position FROM extensions {}", columns.names(), rest);
}

Row read(const Statement& row) { return {.position = row.integer(columns.count), .extension = columns.read(row)}; }

std::optional<Row> first(Statement& statement) {
  if (!statement.step()) return std::nullopt;
  return read(statement);
}

}  // namespace

std::vector<Row> all(Connection& connection) {
  std::vector<Row> rows;
  auto row = connection.prepare(select("ORDER BY position"));
  while (row.step()) rows.push_back(read(row));
  return rows;
}

std::optional<Row> find(Connection& connection, std::string_view id) {
  static const auto sql = select("WHERE id = :id");
  auto row = connection.prepare(sql);
  row.bind(":id", id);
  return first(row);
}

std::optional<Row> find_named(Connection& connection, std::string_view name) {
  static const auto sql = select("WHERE name = :name");
  auto row = connection.prepare(sql);
  row.bind(":name", name);
  return first(row);
}

std::int64_t insert(Connection& connection, const Extension& extension) {
  static const auto sql = columns.insert_into("extensions") + " RETURNING position";
  AGW_ASSERT(!extension.id.empty());
  auto statement = connection.prepare(sql);
  columns.bind(statement, extension).step();
  const auto position = statement.integer(0);
  AGW_ASSERT(position > 0);
  return position;
}

void update(Connection& connection, const Extension& extension) {
  static const auto sql = fmt::format("UPDATE extensions SET {} WHERE id = :id", changed_columns.assignments());
  AGW_ASSERT(connection.in_transaction());
  auto statement = connection.prepare(sql);
  changed_columns.bind(statement, extension).bind(":id", extension.id).run();
  // The caller has read it in the same transaction.
  AGW_ASSERT(connection.changes() == 1);
}

void remove(Connection& connection, std::string_view id) {
  AGW_ASSERT(connection.in_transaction());
  connection.prepare("DELETE FROM extensions WHERE id = :id").bind(":id", id).run();
  AGW_ASSERT(connection.changes() == 1);
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
          "INSERT INTO written_built_ins (\"only\", content_id) VALUES (1, :content_id) "
          "ON CONFLICT (\"only\") DO UPDATE SET content_id = excluded.content_id")
      .bind(":content_id", content_id)
      .run();
}

}  // namespace agw::extension_store
