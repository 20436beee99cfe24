#include "features/client_api/store.hpp"

#include "base/async/assert.hpp"

namespace agw::client_store {

std::optional<std::string> find_thread(Connection& connection, const std::string& hash) {
  auto row = connection.prepare("SELECT thread_id FROM client_threads WHERE hash = :hash");
  row.bind(":hash", hash);
  return row.step() ? std::optional(row.string(0)) : std::nullopt;
}

void put_thread(Connection& connection, const std::string& thread_id, const std::string& hash) {
  AGW_ASSERT(!thread_id.empty());
  AGW_ASSERT(!hash.empty());
  AGW_ASSERT(connection.in_transaction());
  connection.prepare("DELETE FROM client_threads WHERE hash = :hash OR thread_id = :thread")
      .bind(":hash", hash)
      .bind(":thread", thread_id)
      .run();
  connection.prepare("INSERT INTO client_threads (hash, thread_id) VALUES (:hash, :thread)")
      .bind(":hash", hash)
      .bind(":thread", thread_id)
      .run();
}

std::optional<StoredResponse> find_response(Connection& connection, const std::string& id) {
  auto row =
      connection.prepare("SELECT created_at, thread_id, body, conversation FROM client_responses WHERE id = :id");
  row.bind(":id", id);
  if (!row.step()) return std::nullopt;
  return StoredResponse{id, row.time(0), row.string(1), row.string(2), row.string(3)};
}

void put_response(Connection& connection, const StoredResponse& response, Timestamp oldest) {
  AGW_ASSERT(response.id.starts_with("resp_"));
  AGW_ASSERT(!response.body.empty());
  AGW_ASSERT(response.thread_id.empty() != response.conversation.empty());  // what a later request continues
  AGW_ASSERT(oldest < response.created_at);
  AGW_ASSERT(connection.in_transaction());
  connection
      .prepare(
          "DELETE FROM client_responses WHERE id IN (SELECT id FROM client_responses WHERE created_at < :oldest LIMIT "
          "20)")
      .bind(":oldest", oldest)
      .run();
  connection
      .prepare(
          "INSERT INTO client_responses (id, created_at, thread_id, body, conversation) VALUES (:id, :created, "
          ":thread, :body, :conversation)")
      .bind(":id", response.id)
      .bind(":created", response.created_at)
      .bind(":thread", response.thread_id)
      .bind(":body", response.body)
      .bind(":conversation", response.conversation)
      .run();
}

bool remove_response(Connection& connection, const std::string& id) {
  connection.prepare("DELETE FROM client_responses WHERE id = :id").bind(":id", id).run();
  return connection.changes() > 0;
}

}  // namespace agw::client_store
