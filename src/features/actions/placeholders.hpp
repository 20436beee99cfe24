#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "base/json/json.hpp"

namespace agw {

/// Returns the text that replaces `{{name}}`.
using Fill = std::function<std::string(const std::string& name)>;

/// Replaces every `{{name}}` in `text`; spaces around the name are ignored. Replacements are not expanded again.
std::string filled(std::string_view text, const Fill& fill);

/// Returns the names of the placeholders in a text.
std::set<std::string> placeholders_in(std::string_view text);

/// Whether the input is too long for the places that it fills in the strings of `form`: more than 10 MiB in all.
bool fills_too_much(const json::object& form, const json::object& input);

/// Quotes every placeholder in `text` that is outside of quotes: `{"n": {{n}}}` becomes JSON.
std::string with_quoted_placeholders(std::string_view text);

/// Returns a JSON value with the placeholders in its strings replaced. A string that is a single placeholder becomes
/// the member itself, which keeps the member's type.
json::value filled_json(const json::value& value, const json::object& input);

}  // namespace agw
