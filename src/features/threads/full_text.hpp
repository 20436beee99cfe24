#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "storage/connection.hpp"

namespace agw {

/// Registers the function `turn_hits(turn_words)` with the connection. For a matching row it returns a blob of unsigned
/// 32-bit numbers in native byte order: the number of words in the body, then the number of occurrences of each phrase,
/// in the order of the query.
void add_hits_function(Connection& connection);

/// Decodes a result of `turn_hits`.
std::vector<std::uint32_t> read_hits(std::string_view blob);

}  // namespace agw
