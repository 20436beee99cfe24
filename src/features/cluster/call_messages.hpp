#pragma once

#include <string>

#include "features/cluster/types.hpp"
#include "tools/tool.hpp"

namespace agw {

// What nodes tell each other about calls of tools, as the contents of requests and responses that are passed on.

std::string content_of(const ToolOutcome& outcome);
/// Example: src/features/cluster/call_messages_test.cpp: CallMessagesTest.OutcomesArriveAsTheyWere
ToolOutcome outcome_in(const std::string& content);

std::string content_of(const PersonQuestion& question);
PersonQuestion question_in(const std::string& content);

std::string content_of(const PersonAnswer& answer);
PersonAnswer answer_in(const std::string& content);

}  // namespace agw
