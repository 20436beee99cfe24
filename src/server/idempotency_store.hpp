#pragma once

#include <optional>
#include <string>

#include "base/time.hpp"
#include "storage/connection.hpp"

namespace agw::idempotency_store {

/// A kept answer.
struct Kept {
  std::string body_hash;
  int status = 0;
  std::string body;
};

/// The answer that was kept for `key` at `path` after `oldest`, if any.
std::optional<Kept> find(Connection& connection, const std::string& path, const std::string& key, Timestamp oldest);

/// Keeps an answer, and forgets some that are older than `oldest`.
void keep(Connection& connection, const std::string& path, const std::string& key, const Kept& kept, Timestamp now,
          Timestamp oldest);

/// Forgets what was kept with that body, which names its record.
void forget(Connection& connection, const std::string& body);

}  // namespace agw::idempotency_store
