#pragma once

#include <string>

#include "features/cluster/types.hpp"
#include "tools/tool.hpp"

namespace agw {

// The contents of forwarded requests and responses about tool calls.

std::string content_of(const ToolOutcome& outcome);
/// Example: src/features/cluster/call_messages_test.cpp: CallMessagesTest.OutcomesArriveAsTheyWere
ToolOutcome outcome_in(const std::string& content);

std::string content_of(const PersonQuestion& question);
PersonQuestion question_in(const std::string& content);

std::string content_of(const PersonAnswer& answer);
PersonAnswer answer_in(const std::string& content);

}  // namespace agw
