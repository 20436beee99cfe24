#pragma once

#include <optional>
#include <string>

#include "base/json.hpp"

namespace agw {

/// Why a tool's input does not fit the tool's JSON Schema, in words that help a model to mend it; nothing where it
/// fits.
///
/// Schemas come from strangers too, so one that refers to itself, is deeper than 32, or takes too many steps to hold an
/// input against cannot be read: nothing is answered, and whoever does the call judges its input. Keywords that are not
/// known are passed over. Patterns are matched in time linear to the text; one that cannot be matched so is passed
/// over.
std::optional<std::string> input_problem(const json::value& schema, const json::object& input);

}  // namespace agw
