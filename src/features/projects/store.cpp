#include "features/projects/store.hpp"

namespace agw::project_store {

namespace {

#define PROJECT_COLUMNS "id, name, path, description, trusted, created_at, updated_at"

Project read(const Statement& row) {
  return {.id = row.string(0),
          .name = row.string(1),
          .path = row.string(2),
          .description = row.optional_string(3),
          .trusted = row.boolean(4),
          .created_at = row.time(5),
          .updated_at = row.time(6)};
}

void bind_members(Statement& statement, const Project& project) {
  statement.bind(":id", project.id)
      .bind(":name", project.name)
      .bind(":path", project.path)
      .bind(":description", project.description)
      .bind(":trusted", project.trusted)
      .bind(":updated_at", project.updated_at);
}

}  // namespace

std::vector<Project> all(Connection& connection) {
  std::vector<Project> projects;
  auto row = connection.prepare("SELECT " PROJECT_COLUMNS " FROM projects ORDER BY number");
  while (row.step()) projects.push_back(read(row));
  return projects;
}

std::optional<Project> find(Connection& connection, const std::string& id) {
  auto row = connection.prepare("SELECT " PROJECT_COLUMNS " FROM projects WHERE id = :id");
  row.bind(":id", id);
  if (!row.step()) return std::nullopt;
  return read(row);
}

void insert(Connection& connection, const Project& project) {
  auto statement = connection.prepare("INSERT INTO projects (" PROJECT_COLUMNS
                                      ") VALUES (:id, :name, :path, :description, :trusted, :created_at, :updated_at)");
  bind_members(statement, project);
  statement.bind(":created_at", project.created_at).run();
}

void update(Connection& connection, const Project& project) {
  auto statement = connection.prepare(
      "UPDATE projects SET name = :name, path = :path, description = :description, trusted = :trusted, "
      "updated_at = :updated_at WHERE id = :id");
  bind_members(statement, project);
  statement.run();
}

bool remove(Connection& connection, const std::string& id) {
  connection.prepare("DELETE FROM projects WHERE id = :id").bind(":id", id).run();
  return connection.changes() > 0;
}

}  // namespace agw::project_store
