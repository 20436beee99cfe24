#pragma once

#include <functional>
#include <optional>
#include <string>

namespace agw {

/// Looks up an environment variable; an empty one counts as not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// The environment that the process was started with.
Environment process_environment();

}  // namespace agw
