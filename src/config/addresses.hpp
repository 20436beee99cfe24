#pragma once

#include <string>
#include <string_view>

namespace agw {

struct Settings;

// Validation of addresses in the configuration, so that a wrong one is reported instead of silently never matching.

/// Whether it begins with `http://` or `https://`, a host and, if given, a valid port; anything may follow.
bool is_web_address(std::string_view text);
/// For error messages, after "must be".
inline constexpr auto a_web_address =
    "an address that begins with http:// or https://, such as https://example.org:8443";

/// Whether it is not empty and has no spaces and control characters.
bool is_printable(std::string_view text);

/// Whether it is a host as in the header `Host`: an ASCII name or an address, without port and brackets. Patterns are
/// not supported: `*` is compared literally.
bool is_host_name(std::string_view text);

/// Whether it is an origin as in the header `Origin`: without user, path and the scheme's default port, or it would
/// never match.
/// Example: src/config/addresses_test.cpp: Addresses.AnOriginIsOneThatBrowsersSend
bool is_origin(std::string_view text);

/// Whether only this machine can connect to `host`: `localhost`, 127.0.0.0/8, `::1`, with or without brackets.
bool is_loopback(std::string_view host);

/// Validates the address to listen on: other than loopback requires a token. Throws StartError (usage) if it is
/// refused; else returns a warning for the log, or an empty text.
std::string check_binding(const Settings& settings);

}  // namespace agw
