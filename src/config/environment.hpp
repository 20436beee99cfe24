#pragma once

#include <functional>
#include <optional>
#include <string>

namespace agw {

/// Looks up an environment variable; an empty one counts as not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// The environment of this process.
Environment process_environment();

}  // namespace agw
