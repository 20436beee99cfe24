#include "base/async/assert.hpp"
#include "base/json/json_values.hpp"
#include "features/projects/store.hpp"

namespace agw::trust_store {

std::optional<TrustedFiles> find(Connection& connection, const std::string& project_id) {
  auto row = connection.prepare("SELECT files FROM project_trust WHERE project_id = :project");
  row.bind(":project", project_id);
  if (!row.step()) return std::nullopt;
  TrustedFiles trusted;
  const auto stored = parse_stored_json(row.text(0));
  for (const auto& [path, file] : stored.as_object()) {
    const auto& members = file.as_object();
    const auto text = string_member(members, "text");
    trusted.files[path] = {string_or_empty(members, "digest"), text ? std::optional<std::string>(*text) : std::nullopt};
  }
  return trusted;
}

void put(Connection& connection, const std::string& project_id, const TrustedFiles& files) {
  AGW_ASSERT(!project_id.empty());
  json::object all;
  for (const auto& [path, file] : files.files) {
    json::object members{{"digest", file.digest}};
    if (file.text) members["text"] = *file.text;
    all[to_utf8(path)] = std::move(members);
  }
  connection
      .prepare(
          "INSERT INTO project_trust (project_id, digest, files) SELECT id, :digest, :files FROM projects WHERE id = "
          ":project ON CONFLICT (project_id) DO UPDATE SET digest = excluded.digest, files = excluded.files")
      .bind(":project", project_id)
      .bind(":digest", files.digest())
      .bind(":files", to_json(all))
      .run();
  // None if the project was deleted.
  AGW_ASSERT(connection.changes() <= 1);
}

}  // namespace agw::trust_store
