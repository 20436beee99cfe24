#pragma once

#include <memory>

#include "features/client_api/answer_writer.hpp"
#include "features/client_api/types.hpp"

namespace agw {

/// Whether a program expects thinking blocks, and text in them.
enum class ThinkingDisplay { none, omitted, shown };

/// The body of `POST /v1/messages`, Anthropic's Messages.
struct AnthropicMessages {
  ClientRequest request;
  ThinkingDisplay thinking = ThinkingDisplay::none;
};

/// Reads the body. Throws ApiError 400 that names the invalid parameter.
/// Example: src/features/client_api/anthropic_messages_test.cpp: AnthropicMessages.AreRead
AnthropicMessages read_anthropic_messages(const json::object& body);
/// Reads the body of `POST /v1/messages/count_tokens`, which has no `max_tokens`. Throws as `read_anthropic_messages`.
ClientRequest read_anthropic_count(const json::object& body);

/// Writes `message`, or the events from `message_start` to `message_stop`.
/// Example: src/features/client_api/anthropic_messages_test.cpp: AnthropicWriter.WritesTheEventsOfAnAnswer
std::unique_ptr<AnswerWriter> anthropic_message_writer(ThinkingDisplay thinking);

}  // namespace agw
