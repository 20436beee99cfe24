#pragma once

#include <string>
#include <string_view>

#include "config/settings.hpp"

namespace agw {

/// Whether only this machine reaches what listens on `host`: `localhost`, 127.0.0.0/8, `::1`, with or without brackets.
bool is_loopback(std::string_view host);

/// Holds the address to listen on against the rules: beyond loopback never without a token. Throws StartError (usage)
/// where it is refused; else answers a warning for the log, empty where there is nothing to warn of.
std::string check_binding(const Settings& settings);

}  // namespace agw
