#pragma once

#include <string>
#include <string_view>

namespace agw {

/// The text with its capital letters of the Latin, Greek, Cyrillic and Armenian scripts made small; what is no valid
/// UTF-8 is left out. Does not depend on the host's locales.
std::string lower_case(std::string_view utf8);

}  // namespace agw
