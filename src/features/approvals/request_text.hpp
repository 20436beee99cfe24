#pragma once

#include <string>
#include <string_view>

#include "base/json/json.hpp"

namespace agw {

/// Formats a permission request or question in full: the agent and the tool, the command, input and change, and
/// warnings about misleading parts. Each line after the first is prefixed with a bar, so that no part of it looks like
/// the program's own words.
/// Example: src/features/approvals/request_text_test.cpp: RequestText.ShowsACommandInFull
std::string request_text(const json::object& request, bool colours = false);

/// Returns its first line, without colours: `assistant asks to run a command`.
std::string request_title(const json::object& request);

/// Returns the outcome of a request, from its event or record: `allowed once`, `nobody answered in time`.
std::string outcome_text(const json::object& decided);
/// Does the same for a decision by another client: `allowed once elsewhere`.
std::string elsewhere_text(const json::object& decided);

}  // namespace agw
