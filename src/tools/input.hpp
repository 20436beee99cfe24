#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/json/json.hpp"

namespace agw {

// Members of a tool's input, which its schema has validated.

/// A string; `otherwise` if it is missing.
std::string text_input(const json::object& input, std::string_view name, std::string_view otherwise = {});
/// A whole number, clamped to the range; `otherwise` if it is missing.
std::int64_t number_input(const json::object& input, std::string_view name, std::int64_t otherwise, std::int64_t min,
                          std::int64_t max);

/// Validates a tool's input against the tool's JSON Schema. Returns the problem, in words that help a model to correct
/// it, or nullopt.
///
/// Schemas come from third parties too. A schema that refers to itself, is deeper than 32, or takes too many steps
/// cannot be checked: the result is nullopt, and the callee validates its input. Unknown keywords are ignored. Patterns
/// are matched in linear time; one that cannot be is ignored.
/// Example: src/tools/input_check_test.cpp: InputProblem.SaysWhatDoesNotFit
std::optional<std::string> input_problem(const json::value& schema, const json::object& input);

}  // namespace agw
