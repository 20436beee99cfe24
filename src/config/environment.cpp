#include "config/environment.hpp"

#include <cstdlib>

namespace agw {

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (!value || !*value) return std::nullopt;
    return value;
  };
}

}  // namespace agw
