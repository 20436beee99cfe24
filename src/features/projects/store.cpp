#include "features/projects/store.hpp"

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "storage/columns.hpp"

namespace agw::project_store {

namespace {

constexpr auto columns =
    columns_of<Project>(Column{"id", &Project::id}, Column{"name", &Project::name}, Column{"path", &Project::path},
                        Column{"description", &Project::description}, Column{"trusted", &Project::trusted},
                        Column{"created_at", &Project::created_at}, Column{"updated_at", &Project::updated_at});
constexpr auto changed_columns = columns_of<Project>(
    Column{"name", &Project::name}, Column{"path", &Project::path}, Column{"description", &Project::description},
    Column{"trusted", &Project::trusted}, Column{"updated_at", &Project::updated_at});

}  // namespace

std::vector<Project> all(Connection& connection) {
  std::vector<Project> projects;
  auto row = connection.prepare(fmt::format("SELECT {} FROM projects ORDER BY number", columns.names()));
  while (row.step()) projects.push_back(columns.read(row));
  return projects;
}

std::optional<Project> find(Connection& connection, const std::string& id) {
  static const auto sql = fmt::format("SELECT {} FROM projects WHERE id = :id", columns.names());
  auto row = connection.prepare(sql);
  row.bind(":id", id);
  if (!row.step()) return std::nullopt;
  return columns.read(row);
}

void insert(Connection& connection, const Project& project) {
  static const auto sql = columns.insert_into("projects");
  auto statement = connection.prepare(sql);
  columns.bind(statement, project).run();
}

void update(Connection& connection, const Project& project) {
  AGW_ASSERT(connection.in_transaction());
  static const auto sql = fmt::format("UPDATE projects SET {} WHERE id = :id", changed_columns.assignments());
  auto statement = connection.prepare(sql);
  changed_columns.bind(statement, project).bind(":id", project.id).run();
  // The caller has read it in this transaction.
  AGW_ASSERT(connection.changes() == 1);
}

bool remove(Connection& connection, const std::string& id) {
  connection.prepare("DELETE FROM projects WHERE id = :id").bind(":id", id).run();
  return connection.changes() > 0;
}

}  // namespace agw::project_store
