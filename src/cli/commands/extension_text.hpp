#pragma once

#include <string>

#include "base/json/json.hpp"

namespace agw::cli {

/// A record as YAML for `agw ext add`, with its other properties as comments above. Not yet made printable.
std::string extension_text(const json::object& record);

/// The same with only the members that a person can change, below the lines of `head`.
std::string editable_text(const json::object& record, const std::string& head);

}  // namespace agw::cli
