#pragma once

#include <optional>
#include <string>

namespace agw {

/// A host name as DNS has it: other characters than ASCII become `xn--…` (RFC 5891, mapped as in UTS 46, so that it is
/// the host that browsers use). nullopt if it is not a name, or libidn2 is missing.
std::optional<std::string> to_ascii_host(const std::string& name);

}  // namespace agw
