#pragma once

#include <cstdint>
#include <string>

#include "base/json/json.hpp"

namespace agw {

// Members of a tool's input, which its schema has validated.

/// A string; `otherwise` if it is missing.
std::string text_input(const json::object& input, std::string_view name, std::string_view otherwise = {});
/// A whole number, clamped to the range; `otherwise` if it is missing.
std::int64_t number_input(const json::object& input, std::string_view name, std::int64_t otherwise, std::int64_t least,
                          std::int64_t most);

}  // namespace agw
