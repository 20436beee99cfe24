#pragma once

#include <string_view>

namespace agw {

// What a person writes as an address, judged before it could fail to match or to be reached without a word.

/// `http://` or `https://`, a host and, where one is named, a port that there is; then anything.
bool is_web_address(std::string_view text);
/// For the messages about it, behind "must be".
inline constexpr auto a_web_address =
    "an address that begins with http:// or https://, such as https://example.org:8443";

/// Without blanks and control characters, and not empty.
bool is_printable(std::string_view text);

/// As clients send it in `Host`: a name in ASCII or an address, without a port and without brackets. No pattern: `*` is
/// compared as it stands.
bool is_host_name(std::string_view text);

/// As browsers send it in `Origin`: without user, path and the scheme's own port, or it would never match.
bool is_origin(std::string_view text);

}  // namespace agw
