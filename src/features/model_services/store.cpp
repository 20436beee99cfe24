#include "features/model_services/store.hpp"

namespace agw::model_service_store {

std::optional<std::string> chosen(Connection& connection, std::string_view name) {
  auto row = connection.prepare("SELECT value FROM chosen_settings WHERE name = :name");
  row.bind(":name", name);
  return row.step() ? std::optional(row.string(0)) : std::nullopt;
}

void choose(Connection& connection, std::string_view name, const std::optional<std::string>& value) {
  if (!value) {
    connection.prepare("DELETE FROM chosen_settings WHERE name = :name").bind(":name", name).run();
    return;
  }
  connection
      .prepare(
          "INSERT INTO chosen_settings (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value = "
          "excluded.value")
      .bind(":name", name)
      .bind(":value", *value)
      .run();
}

std::vector<std::string> deleted(Connection& connection) {
  std::vector<std::string> names;
  auto rows = connection.prepare("SELECT name FROM deleted_model_services ORDER BY name");
  while (rows.step()) names.push_back(rows.string(0));
  return names;
}

void add_deleted(Connection& connection, const std::string& name) {
  connection.prepare("INSERT INTO deleted_model_services (name) VALUES (:name) ON CONFLICT DO NOTHING")
      .bind(":name", name)
      .run();
}

void forget_deleted(Connection& connection, const std::string& name) {
  connection.prepare("DELETE FROM deleted_model_services WHERE name = :name").bind(":name", name).run();
}

}  // namespace agw::model_service_store
