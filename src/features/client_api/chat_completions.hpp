#pragma once

#include <memory>
#include <string>

#include "features/client_api/answer_writer.hpp"
#include "features/client_api/types.hpp"

namespace agw {

/// The body of `POST /v1/chat/completions`, OpenAI's Chat Completions.
struct ChatCompletion {
  ClientRequest request;
  bool includes_usage = false;  ///< a stream ends with the usage
};

/// Reads the body. Throws ApiError 400 that names the invalid parameter.
/// Example: src/features/client_api/chat_completions_test.cpp: ChatCompletions.AreRead
ChatCompletion read_chat_completion(const json::object& body);

/// Writes `chat.completion`, or `chat.completion.chunk` events that end with `[DONE]`.
std::unique_ptr<AnswerWriter> chat_completion_writer(bool includes_usage);

}  // namespace agw
