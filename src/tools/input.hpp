#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/json/json.hpp"

namespace agw {

// Members of a tool's input, which its schema has validated.

/// Returns a string, or `otherwise` if it is missing.
std::string text_input(const json::object& input, std::string_view name, std::string_view otherwise = {});
/// Returns an integer, clamped to the range, or `otherwise` if it is missing.
std::int64_t number_input(const json::object& input, std::string_view name, std::int64_t otherwise, std::int64_t min,
                          std::int64_t max);

/// Corrects two habits of models where the schema leaves no doubt: removes a member that is null although the schema
/// does not allow it, unless it is required, and replaces a string that contains the JSON of the required type ("5",
/// "true", "[...]") by its value.
/// Example: src/tools/input_check_test.cpp: CorrectInput.KeepsWhatTheSchemaAllows
void correct_input(json::object& input, const json::value& schema);

/// Validates a tool's input against the tool's JSON Schema. Returns the problem, in words that help a model to correct
/// it, or nullopt.
///
/// Schemas may come from third parties. If a schema refers to itself, is deeper than 32, or takes too many steps, the
/// result is nullopt, and the callee validates its input. Unknown keywords are ignored, and so are patterns that cannot
/// be matched in linear time.
/// Example: src/tools/input_check_test.cpp: InputProblem.ReportsMismatches
std::optional<std::string> input_problem(const json::value& schema, const json::object& input);

}  // namespace agw
