#pragma once

#include <string>
#include <vector>

namespace agw {

/// The hosts that `name` stands for in a capability's `hosts`: those of a package registry or service (`npm`, `pypi`,
/// `github`, `debian`, `crates`, `go`). Any other name is a host itself.
std::vector<std::string> preset_hosts(const std::string& name);

}  // namespace agw
