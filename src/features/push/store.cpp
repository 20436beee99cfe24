#include "features/push/store.hpp"

#include "base/async/assert.hpp"
#include "base/json/json_values.hpp"
#include "io/http/web_url.hpp"
#include "storage/columns.hpp"

namespace agw {

/// Kinds are stored as JSON. Unknown ones are left out.
template <>
struct ColumnValue<std::vector<PushKind>> {
  static std::vector<PushKind> read(const Statement& row, int column) {
    std::vector<PushKind> kinds;
    const auto stored = parse_stored_json(row.text(column));
    for (const auto& name : strings_of(stored.as_array())) {
      if (const auto kind = from_text<PushKind>(name)) kinds.push_back(*kind);
    }
    return kinds;
  }
  static std::string bound(const std::vector<PushKind>& kinds) {
    json::array listed;
    for (const auto kind : kinds) listed.emplace_back(to_text(kind));
    return to_json(json::value(std::move(listed)));
  }
};

namespace push_store {

namespace {

constexpr auto columns = columns_of<PushTarget>(
    Column{"id", [](auto& row) -> auto& { return row.shown.id; }}, Column{"endpoint", &PushTarget::endpoint},
    Column{"p256dh", [](auto& row) -> auto& { return row.keys.p256dh; }},
    Column{"auth", [](auto& row) -> auto& { return row.keys.auth; }},
    Column{"kinds", [](auto& row) -> auto& { return row.shown.kinds; }},
    Column{"device", [](auto& row) -> auto& { return row.shown.device; }},
    Column{"gateway_key", &PushTarget::gateway_key}, Column{"token_id", &PushTarget::token_id},
    Column{"created_at", [](auto& row) -> auto& { return row.shown.created_at; }},
    Column{"expires_at", [](auto& row) -> auto& { return row.shown.expires_at; }});

}  // namespace

void insert(Connection& connection, const PushTarget& target) {
  static const auto sql = columns.insert_into("push_subscriptions");
  auto statement = connection.prepare(sql);
  columns.bind(statement, target).run();
}

std::vector<PushTarget> list(Connection& connection) {
  static const auto sql = "SELECT " + columns.names() + " FROM push_subscriptions ORDER BY number";
  std::vector<PushTarget> targets;
  auto rows = connection.prepare(sql);
  while (rows.step()) {
    auto& target = targets.emplace_back(columns.read(rows));
    if (const auto url = WebUrl::parse(target.endpoint)) target.shown.service = url->host();
  }
  return targets;
}

bool remove(Connection& connection, std::string_view id) {
  connection.prepare("DELETE FROM push_subscriptions WHERE id = :id").bind(":id", id).run();
  AGW_ASSERT(connection.changes() <= 1);
  return connection.changes() > 0;
}

void delete_others(Connection& connection, std::string_view token_id) {
  connection.prepare("DELETE FROM push_subscriptions WHERE token_id <> :token").bind(":token", token_id).run();
}

}  // namespace push_store

}  // namespace agw
