#pragma once

#include <string>
#include <string_view>

#include "base/json.hpp"

namespace agw::cli {

/// An API error on one printable line: `error`, and behind it the record that it names, or what its `details` say of
/// single members, if any.
std::string problem_text(std::string_view error, const json::object& members);

}  // namespace agw::cli
