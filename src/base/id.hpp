#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time/time.hpp"

namespace agw {

/// A new UUIDv7 (RFC 9562, section 5.7): lower case, 36 characters. Unique, and roughly in order of time; lists are
/// still ordered by insertion. Thread-safe.
std::string new_id();

/// The id of what `key` names within `owner`: the same two have the same id, so that what is sent again is found
/// without a table of keys. It has the form of all ids, with the time 0.
std::string id_of_key(std::string_view owner, std::string_view key);

/// The time at which `new_id` made it; nullopt if it is not a UUIDv7.
std::optional<Timestamp> time_of_id(std::string_view id);

/// Whether `text` has the form of a UUID, in upper or lower case.
bool is_uuid(std::string_view text);

/// `bytes` random bytes from the kernel as lower-case hex digits, for tokens.
std::string random_hex(std::size_t bytes);

}  // namespace agw
