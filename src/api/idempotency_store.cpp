#include "api/idempotency_store.hpp"

#include "base/async/assert.hpp"

namespace agw::idempotency_store {

std::optional<StoredResponse> find(Connection& connection, const std::string& path, const std::string& key,
                                   Timestamp oldest) {
  auto row = connection.prepare(
      "SELECT body_hash, status, body, fields FROM idempotency_keys WHERE path = :path AND key = :key AND created_at > "
      ":oldest");
  row.bind(":path", path).bind(":key", key).bind(":oldest", oldest);
  if (!row.step()) return std::nullopt;
  return StoredResponse{row.string(0), static_cast<int>(row.integer(1)), row.string(2), row.string(3)};
}

void store(Connection& connection, const std::string& path, const std::string& key, const StoredResponse& response,
           Timestamp now, Timestamp oldest) {
  AGW_ASSERT(!key.empty());
  AGW_ASSERT(response.status >= 200 && response.status < 300);  // a failure may be tried again
  AGW_ASSERT(oldest < now);
  connection
      .prepare(
          "DELETE FROM idempotency_keys WHERE (path, key) IN (SELECT path, key FROM idempotency_keys WHERE created_at "
          "<= :oldest ORDER BY created_at LIMIT 20)")
      .bind(":oldest", oldest)
      .run();
  connection
      .prepare(
          "INSERT INTO idempotency_keys (path, key, body_hash, status, body, fields, created_at) VALUES (:path, :key, "
          ":hash, :status, :body, :fields, :now) ON CONFLICT (path, key) DO UPDATE SET body_hash = excluded.body_hash, "
          "status = excluded.status, body = excluded.body, fields = excluded.fields, created_at = excluded.created_at")
      .bind(":path", path)
      .bind(":key", key)
      .bind(":hash", response.body_hash)
      .bind(":status", response.status)
      .bind(":body", response.body)
      .bind(":fields", response.fields)
      .bind(":now", now)
      .run();
  AGW_ASSERT(connection.changes() == 1);
}

bool claim(Connection& connection, const std::string& path, const std::string& key, Timestamp now, Timestamp oldest) {
  AGW_ASSERT(!key.empty());
  AGW_ASSERT(oldest < now);
  connection
      .prepare(
          "INSERT INTO idempotency_claims AS claimed (path, key, created_at) VALUES (:path, :key, :now) "
          "ON CONFLICT (path, key) DO UPDATE SET node = this_node(), created_at = excluded.created_at "
          "WHERE claimed.node = this_node() OR claimed.created_at <= :oldest")
      .bind(":path", path)
      .bind(":key", key)
      .bind(":now", now)
      .bind(":oldest", oldest)
      .run();
  AGW_ASSERT(connection.changes() <= 1);
  return connection.changes() == 1;
}

bool is_claimed_elsewhere(Connection& connection, const std::string& path, const std::string& key, Timestamp oldest) {
  auto row = connection.prepare(
      "SELECT EXISTS (SELECT 1 FROM idempotency_claims WHERE path = :path AND key = :key AND node <> this_node() "
      "AND created_at > :oldest)");
  row.bind(":path", path).bind(":key", key).bind(":oldest", oldest);
  return row.step() && row.boolean(0);
}

void release(Connection& connection, const std::string& path, const std::string& key) {
  connection.prepare("DELETE FROM idempotency_claims WHERE path = :path AND key = :key AND node = this_node()")
      .bind(":path", path)
      .bind(":key", key)
      .run();
}

void release_all(Connection& connection) {
  connection.prepare("DELETE FROM idempotency_claims WHERE node = this_node()").run();
}

void remove(Connection& connection, const std::string& body) {
  connection.prepare("DELETE FROM idempotency_keys WHERE body = :body").bind(":body", body).run();
}

}  // namespace agw::idempotency_store
