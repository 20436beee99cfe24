#pragma once

#include <cstddef>

#include "base/json/json.hpp"

namespace agw {

/// About the number of bytes of `value` as JSON. Stops counting at `enough`, so it is quick for values of any size.
/// Example: src/base/json/json_size_test.cpp: JsonSize.IsAboutTheLengthOfTheText
std::size_t json_size(const json::value& value, std::size_t enough);
std::size_t json_size(const json::array& list, std::size_t enough);
std::size_t json_size(const json::object& members, std::size_t enough);

}  // namespace agw
