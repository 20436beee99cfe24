#pragma once

#include <string>
#include <string_view>

namespace agw {

/// `utf8` with the upper-case letters of the Latin, Greek, Cyrillic and Armenian scripts in lower case; invalid UTF-8
/// is left out. Independent of the host's locales.
std::string lower_case(std::string_view utf8);

}  // namespace agw
