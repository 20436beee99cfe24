#pragma once

#include <cstdint>
#include <string>

#include "base/json.hpp"

namespace agw {

// Members of a tool's input, which is valid by its schema.

/// A text; `otherwise` where it is not given.
std::string text_input(const json::object& input, std::string_view name, std::string_view otherwise = {});
/// A whole number, brought into the range; `otherwise` where it is not given.
std::int64_t number_input(const json::object& input, std::string_view name, std::int64_t otherwise, std::int64_t least,
                          std::int64_t most);

}  // namespace agw
