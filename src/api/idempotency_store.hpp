#pragma once

#include <optional>
#include <string>

#include "base/time/time.hpp"
#include "storage/connection.hpp"

namespace agw::idempotency_store {

/// The response to the first request with a key.
struct StoredResponse {
  std::string body_hash;
  int status = 0;
  std::string body;
  std::string fields{};  ///< headers, as a JSON array of alternating names and values; empty: only the common ones
};

/// The response stored for `key` at `path` after `oldest`.
std::optional<StoredResponse> find(Connection& connection, const std::string& path, const std::string& key,
                                   Timestamp oldest);

/// Stores a response and deletes some that are older than `oldest`.
void store(Connection& connection, const std::string& path, const std::string& key, const StoredResponse& response,
           Timestamp now, Timestamp oldest);

// With several nodes, the one that handles the first request with a key claims the key until it has a response.

/// Claims the key. Returns false if another node has claimed it; an earlier claim by this node is left over from a
/// failure.
bool claim(Connection& connection, const std::string& path, const std::string& key, Timestamp now, Timestamp oldest);
/// Whether another node is handling the first request with the key.
bool is_claimed_elsewhere(Connection& connection, const std::string& path, const std::string& key, Timestamp oldest);
/// Ends this node's claim.
void release(Connection& connection, const std::string& path, const std::string& key);
/// Ends all claims of this node after its end.
void release_all(Connection& connection);

/// Deletes the stored response with this body, which identifies its record.
void remove(Connection& connection, const std::string& body);

}  // namespace agw::idempotency_store
