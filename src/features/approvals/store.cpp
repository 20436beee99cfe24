#include "features/approvals/store.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/json/json.hpp"
#include "base/text/ascii.hpp"
#include "storage/columns.hpp"

namespace agw::approval_store {

namespace {

constexpr auto grant_columns = columns_of<Grant>(
    Column{"id", &Grant::id}, Column{"agent_id", &Grant::agent_id}, Column{"thread_id", &Grant::thread_id},
    Column{"tool", &Grant::tool}, Column{"pattern", &Grant::pattern},
    Column{"scope", &Grant::scope, GrantScope::thread}, Column{"created_at", &Grant::created_at});

/// Whether it is a tool of the gateway itself. Their names begin with a capital letter, those of extensions never do.
bool is_own_tool(std::string_view tool) { return !tool.empty() && is_upper(tool.front()); }

/// The first column of each row.
std::vector<std::string> texts(Connection& connection, std::string_view sql) {
  std::vector<std::string> found;
  auto rows = connection.prepare(sql);
  while (rows.step()) found.push_back(rows.string(0));
  return found;
}

}  // namespace

void put(Connection& connection, const PermissionRequest& request) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(!request.id.empty());
  // A row without a time is one that waits: the next start ends it.
  AGW_ASSERT(request.decided_at.has_value() == request.decision.has_value());
  std::string text;
  write_json(text, request);
  connection
      .prepare(
          "INSERT INTO permission_requests (id, created_at, decided_at, request) VALUES (:id, :at, :end, :text) "
          "ON CONFLICT (id) DO UPDATE SET decided_at = excluded.decided_at, request = excluded.request")
      .bind(":id", request.id)
      .bind(":at", request.created_at)
      .bind(":end", request.decided_at)
      .bind(":text", text)
      .run();
}

bool exists(Connection& connection, const std::string& id) {
  auto row = connection.prepare("SELECT 1 FROM permission_requests WHERE id = :id");
  row.bind(":id", id);
  return row.step();
}

std::vector<PermissionRequest> waiting_elsewhere(Connection& connection) {
  std::vector<PermissionRequest> found;
  auto rows = connection.prepare(
      "SELECT request FROM permission_requests WHERE decided_at IS NULL AND node NOT IN ('', this_node())");
  while (rows.step()) {
    Problems problems;
    read_described(parse_stored_json(rows.text(0)).as_object(), describe(Tag<PermissionRequest>{}),
                   &found.emplace_back(), "", problems);
    if (!problems.empty()) found.pop_back();  // written by a newer release
  }
  return found;
}

int end_interrupted(Connection& connection, Timestamp now) {
  AGW_ASSERT(connection.in_transaction());
  std::vector<std::pair<std::string, std::string>> left;
  {
    auto rows = connection.prepare(Sql{
        .sqlite = "SELECT id, request FROM permission_requests WHERE decided_at IS NULL",
        .postgres = "SELECT id, request FROM permission_requests WHERE decided_at IS NULL AND is_of_this_node(node)"});
    while (rows.step()) left.emplace_back(rows.string(0), rows.string(1));
  }
  for (auto& [id, text] : left) {
    auto request = parse_stored_json(text).as_object();
    request["decision"] = to_text(PermissionDecision::deny);
    request["by"] = to_text(DecidedBy::restart);
    request["decided_at"] = to_iso8601(now);
    connection.prepare("UPDATE permission_requests SET decided_at = :now, request = :text WHERE id = :id")
        .bind(":now", now)
        .bind(":text", to_json(request))
        .bind(":id", id)
        .run();
    // It was read in this transaction.
    AGW_ASSERT(connection.changes() == 1);
  }
  return static_cast<int>(left.size());
}

void purge(Connection& connection, Timestamp oldest) {
  connection
      .prepare(
          "DELETE FROM permission_requests WHERE id IN "
          "(SELECT id FROM permission_requests WHERE decided_at < :oldest LIMIT 100)")
      .bind(":oldest", oldest)
      .run();
}

void insert(Connection& connection, const Grant& grant) {
  AGW_ASSERT(connection.in_transaction());
  // A permission for one call is not kept.
  AGW_ASSERT(grant.scope != GrantScope::once);
  AGW_ASSERT(grant.thread_id.has_value() == (grant.scope == GrantScope::thread));
  static const auto sql = grant_columns.insert_into("grants");
  auto statement = connection.prepare(sql);
  grant_columns.bind(statement, grant).run();
}

bool remove_grant(Connection& connection, const std::string& id) {
  connection.prepare("DELETE FROM grants WHERE id = :id").bind(":id", id).run();
  return connection.changes() > 0;
}

std::vector<Grant> grants(Connection& connection) {
  static const auto sql = fmt::format("SELECT {} FROM grants ORDER BY number", grant_columns.names());
  std::vector<Grant> found;
  auto rows = connection.prepare(sql);
  while (rows.step()) found.push_back(grant_columns.read(rows));
  return found;
}

std::vector<std::string> outlived(Connection& connection, const std::vector<Grant>& grants) {
  auto ids = texts(connection,
                   "SELECT id FROM grants WHERE NOT EXISTS (SELECT 1 FROM extensions WHERE extensions.id = agent_id) "
                   "OR (thread_id IS NOT NULL AND NOT EXISTS "
                   "(SELECT 1 FROM threads WHERE threads.id = grants.thread_id AND archived = 0))");
  const auto names = texts(connection, "SELECT name FROM extensions WHERE type IN ('action', 'integration')");
  for (const auto& grant : grants) {
    const auto is_its_tool = [&](const std::string& name) { return is_tool_of(name, grant.tool); };
    if (!is_own_tool(grant.tool) && std::ranges::none_of(names, is_its_tool)) ids.push_back(grant.id);
  }
  return ids;
}

}  // namespace agw::approval_store
