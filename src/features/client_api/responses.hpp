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
  std::optional<std::string> previous;  ///< the response that it continues
  bool stores = true;
  bool includes_reasoning = false;  ///< in a form that the model's service takes back
  json::array input;                ///< as items, of this request only
  json::object shown;               ///< the members of the response that repeat the request
};

/// Reads the body. Throws ApiError 400 that names the parameter. The conversation is added by `add_input`.
/// Example: src/features/client_api/responses_test.cpp: Responses.AreRead
ResponseRequest read_response_request(const json::object& body);

/// Adds items to the conversation of the request. Throws ApiError 400.
void add_input(ClientRequest& request, const json::array& items);

/// The model's name for a function in the namespace `space` of the program; `name` if `space` is empty.
std::string name_in_namespace(std::string_view space, std::string_view name);

/// Stores the response and its output items, before the answer ends.
using StoreResponse = std::function<Task<>(const ClientAnswer& answer, json::object response)>;

/// How the events of a streamed response are sent.
struct ResponseEvents {
  /// One JSON text a line, as the messages of a WebSocket; otherwise as server-sent events that end with `[DONE]`.
  bool as_lines = false;
  std::string stream_id{};  ///< the member of that name that events have; empty: none
};

/// An item of the input that carries what the service of a model requires back, and nothing to read.
json::object reasoning_item(const std::string& model, const json::array& blocks);

/// Writes a `response`, or its events.
/// `includes_reasoning`: as in ResponseRequest.
std::unique_ptr<AnswerWriter> response_writer(json::object shown, StoreResponse store, bool includes_reasoning,
                                              ResponseEvents events = {});

}  // namespace agw
