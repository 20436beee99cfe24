#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json/json.hpp"

namespace agw {

/// The hosts that `name` stands for in a capability's `hosts`: those of a package registry or service (`npm`, `pypi`,
/// `github`, `debian`, `crates`, `go`). Any other name is a host itself.
std::vector<std::string> preset_hosts(const std::string& name);

/// The member `hosts` of a capability or program, with what presets stand for; no value if there is no list.
std::optional<std::vector<std::string>> hosts_in(const json::object& definition);

/// Whether a list of hosts names this host's loopback, at any port.
bool names_loopback(const std::optional<std::vector<std::string>>& hosts);

}  // namespace agw
