#pragma once

#include "tools/tool.hpp"

namespace agw {

/// AskUser: puts a question to the person whose message the run answers.
Tool ask_user_tool();

}  // namespace agw
