#pragma once

#include "base/json/json.hpp"

namespace agw {

/// The parameters of the `elicitation/create` that presents a permission request or question to the person at an MCP
/// client.
json::object elicitation_of(const json::object& request);

/// The body of `POST /permissions/:id` for the result of an elicitation. Results other than answers count as a denial.
json::object decision_of(const json::object& request, const json::object& result);

}  // namespace agw
