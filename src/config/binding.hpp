#pragma once

#include <string>
#include <string_view>

#include "config/settings.hpp"

namespace agw {

/// Whether only this machine can connect to `host`: `localhost`, 127.0.0.0/8, `::1`, with or without brackets.
bool is_loopback(std::string_view host);

/// Validates the address to listen on: other than loopback requires a token. Throws StartError (usage) if it is
/// refused; else returns a warning for the log, or an empty text.
std::string check_binding(const Settings& settings);

}  // namespace agw
