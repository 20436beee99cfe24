#pragma once

#include <string>
#include <string_view>

#include "base/json/json.hpp"

namespace agw {

/// A permission request or question in full, each line after the first prefixed with a bar, so that nothing in it looks
/// like the program's own words: who asks for what, the command, input and change, and what in it is not what it looks
/// like.
/// Example: src/features/approvals/request_text_test.cpp: RequestText.ShowsACommandInFull
std::string request_text(const json::object& request, bool colours = false);

/// The first line of it, without colours: `assistant asks to run a command`.
std::string request_title(const json::object& request);

/// The outcome of a request, from its event or record: `allowed once`, `nobody answered in time`.
std::string outcome_text(const json::object& decided);
/// The same where another client decided: `allowed once elsewhere`.
std::string elsewhere_text(const json::object& decided);

}  // namespace agw
