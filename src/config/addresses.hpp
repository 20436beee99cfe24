#pragma once

#include <string>
#include <string_view>

namespace agw {

struct Settings;

// Validation of addresses in the configuration. Without it, a wrong address would silently never match.

/// Whether the text begins with `http://` or `https://`, a host and, if given, a valid port; anything may follow.
bool is_web_address(std::string_view text);
/// The end of error messages, after "must be".
inline constexpr auto a_web_address =
    "an address that begins with http:// or https://, such as https://example.org:8443";

/// Whether the text is not empty and contains neither spaces nor control characters.
bool is_printable(std::string_view text);

/// Whether the text is a host as in the header `Host`: an ASCII name or an address, without port and brackets. Patterns
/// are not supported: `*` is compared literally.
bool is_host_name(std::string_view text);

/// Whether the text is an origin as browsers send it in the header `Origin`: without user, path and the scheme's
/// default port. Others would never match.
/// Example: src/config/addresses_test.cpp: Addresses.AnOriginIsOneThatBrowsersSend
bool is_origin(std::string_view text);

/// Whether only this machine can connect to `host`: `localhost`, 127.0.0.0/8, `::1`, with or without brackets.
bool is_loopback(std::string_view host);

/// Validates the address to listen on: all except loopback addresses require a token. Throws StartError (usage) if it
/// is not allowed. Returns a warning for the log, or an empty string.
std::string check_binding(const Settings& settings);

}  // namespace agw
