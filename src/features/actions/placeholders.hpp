#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "base/json/json.hpp"

namespace agw {

/// What stands for a member of the input where a text says `{{name}}`.
using Fill = std::function<std::string(const std::string& name)>;

/// `text` with every `{{name}}` (spaces around the name do not count) filled in. What was filled in is not looked at
/// again.
std::string filled(std::string_view text, const Fill& fill);

/// The names in a text.
std::set<std::string> placeholders_in(std::string_view text);

/// `text` with every placeholder that stands outside of quotes put in quotes: `{"n": {{n}}}` becomes JSON.
std::string with_quoted_placeholders(std::string_view text);

/// A JSON value with its strings filled in. A string that is nothing but a placeholder becomes the member itself.
json::value filled_json(const json::value& value, const json::object& input);

}  // namespace agw
