#pragma once

#include <string_view>

#include "base/json/json.hpp"

namespace agw::cli {

/// Prints JSON; control characters are escaped as `printable_json` does.
void print_json(const json::value& value);
/// The same for JSON text.
void print_json_text(std::string_view text);

}  // namespace agw::cli
