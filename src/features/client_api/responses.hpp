#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/async/task.hpp"
#include "features/client_api/answer_writer.hpp"
#include "features/client_api/types.hpp"

namespace agw {

/// The body of `POST /v1/responses`, OpenAI's Responses.
struct ResponseRequest {
  ClientRequest request;
  std::optional<std::string> previous;  ///< id of the response that it continues
  bool stores = true;
  bool includes_reasoning = false;  ///< as data that the model's service accepts back
  json::array input;                ///< the items of this request only
  json::object shown;               ///< the members of the response that repeat the request
};

/// Reads the body, except for the conversation, which `add_input` reads. Throws ApiError 400 that names the invalid
/// parameter.
/// Example: src/features/client_api/responses_test.cpp: Responses.AreRead
ResponseRequest read_response_request(const json::object& body);

/// Adds items to the conversation of the request. Throws ApiError 400.
void add_input(ClientRequest& request, const json::array& items);

/// Stores the response and its output items, before the answer ends.
using StoreResponse = std::function<Task<>(const ClientAnswer& answer, json::object response)>;

/// The format of the events of a streamed response.
struct ResponseEvents {
  /// One JSON text per line, for the messages of a WebSocket; otherwise server-sent events that end with `[DONE]`.
  bool as_lines = false;
  std::string stream_id{};  ///< value of the events' member `stream_id`; empty: no such member
};

/// An input item with the blocks that a model's service requires back, without readable text.
json::object reasoning_item(const std::string& model, const json::array& blocks);

/// Writes a `response`, or its events. `includes_reasoning`: see ResponseRequest.
std::unique_ptr<AnswerWriter> response_writer(json::object shown, StoreResponse store, bool includes_reasoning,
                                              ResponseEvents events = {});

}  // namespace agw
