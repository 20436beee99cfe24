#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"

namespace agw {

/// A UUIDv7 (RFC 9562, section 5.7) of this moment: lower case, 36 characters. Unique, and roughly in order of time;
/// lists are ordered by insertion all the same. May be called from any thread.
std::string new_id();

/// When `new_id` made it; nothing for what is no UUIDv7.
std::optional<Timestamp> time_of_id(std::string_view id);

/// Whether `text` has the form of a UUID, in either case of letters.
bool is_uuid(std::string_view text);

/// `bytes` random bytes of the kernel as lower-case hex digits, for tokens.
std::string random_hex(std::size_t bytes);

}  // namespace agw
