#pragma once

#include <optional>
#include <string>

#include "base/time/time.hpp"
#include "storage/connection.hpp"

/// The SQL for answers to programs. All functions throw DatabaseError.
namespace agw::client_store {

std::optional<std::string> find_thread(Connection& connection, const std::string& hash);
void put_thread(Connection& connection, const std::string& thread_id, const std::string& hash);

/// A response of `POST /v1/responses`.
struct StoredResponse {
  std::string id;
  Timestamp created_at;
  std::string thread_id;     ///< empty for models
  std::string body;          ///< as JSON
  std::string conversation;  ///< items as JSON; empty for agents
};
std::optional<StoredResponse> find_response(Connection& connection, const std::string& id);
/// Stores the response, and deletes some that are older than `oldest`.
void put_response(Connection& connection, const StoredResponse& response, Timestamp oldest);
/// Returns whether the response existed.
bool remove_response(Connection& connection, const std::string& id);

}  // namespace agw::client_store
