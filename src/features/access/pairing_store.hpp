#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "storage/connection.hpp"

/// The SQL for pairing in a cluster. Times are those of the database server, in milliseconds.
namespace agw::pairing_store {

std::int64_t now(Connection& connection);

/// The code that is valid at `now`.
std::optional<std::string> code(Connection& connection, std::int64_t now);
void set_code(Connection& connection, const std::string& code, std::int64_t expires_at);
void forget_code(Connection& connection);
/// Notifies the nodes that the token may have changed.
void notify_token_change(Connection& connection);

struct Failures {
  std::size_t count = 0;
  std::int64_t latest_at = 0;
};
Failures failures(Connection& connection);
void add_failure(Connection& connection, std::int64_t now);
/// Deletes failures up to that time.
void forget_failures(Connection& connection, std::int64_t until);

}  // namespace agw::pairing_store
