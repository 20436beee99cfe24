#pragma once

#include <string>

#include "base/json.hpp"

namespace agw::cli {

/// A record as YAML that `agw ext add` takes, with what else is known of it as comments above. As it is: made printable
/// by whoever prints it.
std::string extension_text(const json::object& record);

/// The same with the members that a person can change and nothing else, below the lines of `head`.
std::string editable_text(const json::object& record, const std::string& head);

}  // namespace agw::cli
