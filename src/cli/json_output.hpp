#pragma once

#include <string_view>

#include "base/json.hpp"

namespace agw::cli {

/// How commands print JSON: what would steer a terminal is written as `printable_json` does.
void print_json(const json::value& value);
/// The same for JSON as it came.
void print_json_text(std::string_view text);

}  // namespace agw::cli
