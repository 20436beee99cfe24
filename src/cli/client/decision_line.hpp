#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json/json.hpp"

namespace agw::cli {

/// `[y]es, [t]hread, [n]o`, as far as they are possible for the request.
/// Example: src/cli/client/decision_line_test.cpp: DecisionLine.TakesLettersAndWords
std::string choices_of(const json::object& request);

/// The decision that a typed line means: `y`, `t`, `p`, `n`, or these words in full; after `n` a reason. nullopt for
/// anything else, and for what the request does not offer.
std::optional<json::object> decision_in(std::string_view line, const json::object& request);

/// The answer that a typed line means for a member of a question's form: a number, `y` or `n`, one of the member's
/// values, a list. nullopt if it does not fit.
std::optional<json::value> form_value(std::string_view line, const json::object& member);

}  // namespace agw::cli
