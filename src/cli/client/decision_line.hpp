#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json/json.hpp"

namespace agw::cli {

/// `[y]es, [t]hread, [n]o`, as far as the request allows them.
/// Example: src/cli/client/decision_line_test.cpp: DecisionLine.TakesLettersAndWords
std::string choices_of(const json::object& request);

/// Parses a typed decision: `y`, `t`, `p`, `n`, or the full words; after `n` a reason may follow. Nullopt for other
/// lines, and for decisions that the request does not allow.
std::optional<json::object> decision_in(std::string_view line, const json::object& request);

/// Parses a typed answer for a member of a question's form: a number, `y` or `n`, one of the member's values, a list.
/// Nullopt if it is not valid.
std::optional<json::value> form_value(std::string_view line, const json::object& member);

}  // namespace agw::cli
