#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time/time.hpp"

namespace agw {

/// A new UUIDv7 (RFC 9562, section 5.7) in lower case, 36 characters. Unique and roughly ordered by time; lists are
/// still ordered by insertion. Thread-safe.
std::string new_id();

/// An id derived from `owner` and `key`: equal arguments yield the same id, so a repeated request finds its record
/// without a table of keys. A UUIDv7 with the time 0.
std::string id_of_key(std::string_view owner, std::string_view key);

/// The creation time in an id from `new_id`; nullopt if it is not a UUIDv7.
std::optional<Timestamp> time_of_id(std::string_view id);

/// Whether `text` has the form of a UUID, in upper or lower case.
bool is_uuid(std::string_view text);

/// `bytes` random bytes from the kernel as lower-case hex digits, for tokens.
std::string random_hex(std::size_t bytes);

}  // namespace agw
