#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "storage/connection.hpp"

/// The SQL of pairing at the nodes of a cluster. Times are the server's, in milliseconds.
namespace agw::pairing_store {

std::int64_t now(Connection& connection);

/// The code that is valid then.
std::optional<std::string> code(Connection& connection, std::int64_t now);
void set_code(Connection& connection, const std::string& code, std::int64_t expires_at);
void forget_code(Connection& connection);
/// Has the nodes look whether they have another token.
void tell_of_token(Connection& connection);

struct Failures {
  std::size_t count = 0;
  std::int64_t latest_at = 0;
};
Failures failures(Connection& connection);
void add_failure(Connection& connection, std::int64_t now);
/// Those up to that time.
void forget_failures(Connection& connection, std::int64_t until);

}  // namespace agw::pairing_store
