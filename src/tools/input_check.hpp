#pragma once

#include <optional>
#include <string>

#include "base/json/json.hpp"

namespace agw {

/// Validates a tool's input against the tool's JSON Schema. Returns the problem, in words that help a model to correct
/// it, or nullopt.
///
/// Schemas come from third parties too. A schema that refers to itself, is deeper than 32, or takes too many steps
/// cannot be checked: the result is nullopt, and the callee validates its input. Unknown keywords are ignored. Patterns
/// are matched in linear time; one that cannot be is ignored.
std::optional<std::string> input_problem(const json::value& schema, const json::object& input);

}  // namespace agw
