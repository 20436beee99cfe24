#pragma once

#include <string>
#include <string_view>

#include "base/json/json.hpp"

namespace agw::cli {

/// Prints JSON; control characters are escaped as `printable_json` does.
void print_json(const json::value& value);
/// The same for JSON text.
void print_json_text(std::string_view text);

/// An API error as one printable line: `error`, followed by the record that it names, by the records that name it, or
/// by the `details` of single members, if any.
std::string problem_text(std::string_view error, const json::object& members);

}  // namespace agw::cli
