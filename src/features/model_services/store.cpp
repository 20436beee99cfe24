#include "features/model_services/store.hpp"

#include "base/async/assert.hpp"

namespace agw::model_service_store {

std::optional<std::string> chosen(Connection& connection, std::string_view name) {
  auto row = connection.prepare("SELECT value FROM chosen_settings WHERE name = :name");
  row.bind(":name", name);
  return row.step() ? std::optional(row.string(0)) : std::nullopt;
}

void choose(Connection& connection, std::string_view name, const std::optional<std::string>& value) {
  AGW_ASSERT(connection.in_transaction());
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
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(!name.empty());
  connection.prepare("INSERT INTO deleted_model_services (name) VALUES (:name) ON CONFLICT DO NOTHING")
      .bind(":name", name)
      .run();
}

void forget_deleted(Connection& connection, const std::string& name) {
  connection.prepare("DELETE FROM deleted_model_services WHERE name = :name").bind(":name", name).run();
}

std::vector<StoredList> lists(Connection& connection) {
  std::vector<StoredList> found;
  auto rows = connection.prepare("SELECT service, place, models FROM model_lists ORDER BY service");
  while (rows.step()) found.push_back({rows.string(0), rows.string(1), rows.string(2)});
  return found;
}

void put_list(Connection& connection, const StoredList& list) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(!list.place.empty());
  connection
      .prepare(
          "INSERT INTO model_lists (service, place, models) VALUES (:service, :place, :models) ON CONFLICT (service) "
          "DO UPDATE SET place = excluded.place, models = excluded.models "
          "WHERE model_lists.place <> excluded.place OR model_lists.models <> excluded.models")
      .bind(":service", list.service)
      .bind(":place", list.place)
      .bind(":models", list.models)
      .run();
}

void forget_list(Connection& connection, const std::string& service) {
  connection.prepare("DELETE FROM model_lists WHERE service = :service").bind(":service", service).run();
}

}  // namespace agw::model_service_store
