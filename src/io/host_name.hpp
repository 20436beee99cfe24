#pragma once

#include <optional>
#include <string>

namespace agw {

/// A host's name as DNS has it: what is beyond ASCII becomes `xn--…` (RFC 5891, mapped as UTS 46 says, so that it is
/// the host that browsers ask). Nothing for what is no name, and where libidn2 is not there.
std::optional<std::string> ascii_host_name(const std::string& name);

}  // namespace agw
