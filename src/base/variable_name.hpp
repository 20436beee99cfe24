#pragma once

#include <string_view>

namespace agw {

/// Whether `text` may name an environment variable that a shell knows: letters, digits and `_` of ASCII, no digit first
/// (POSIX, base definitions, 3.216).
bool is_variable_name(std::string_view text);

}  // namespace agw
