#include "features/client_api/response_history.hpp"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "api/client_errors.hpp"
#include "base/json/json_values.hpp"
#include "storage/database.hpp"

namespace agw {

namespace {

constexpr std::chrono::days max_response_age{30};

/// The output that a later request repeats: what the service requires back, messages and calls.
void add_output(json::array& conversation, const ClientAnswer& answer, const json::object& response) {
  if (!answer.provider_blocks.empty()) conversation.push_back(reasoning_item(answer.model, answer.provider_blocks));
  for (const auto& item : response.at("output").as_array()) {
    if (item.at("type") != "reasoning") conversation.push_back(item);
  }
}

}  // namespace

Task<std::optional<StoredResponse>> find_response(ClientApi& api, std::string id) {
  co_return co_await api.services().database.read(
      [id](Connection& connection) { return client_store::find_response(connection, id); });
}

ApiError previous_response_not_found(const std::string& id) {
  return client_error(400, fmt::format("no previous response has the id `{}`: send the whole conversation", id),
                      "previous_response_id", "previous_response_not_found");
}

json::array continue_response(ResponseRequest& read, const std::optional<StoredResponse>& previous) {
  json::array conversation;
  if (previous && !previous->thread_id.empty()) {
    read.request.thread_id = previous->thread_id;
    read.request.thread_param = "previous_response_id";
  }
  if (previous && !previous->conversation.empty()) conversation = parse_stored_json(previous->conversation).as_array();
  conversation.insert(conversation.end(), read.input.begin(), read.input.end());
  add_input(read.request, conversation);
  return conversation;
}

StoredResponse stored_response(const ClientApi& api, const ClientAnswer& answer, const json::object& response,
                               json::array conversation) {
  StoredResponse row{.id = std::string(response.at("id").as_string()),
                     .created_at = api.services().clock.now(),
                     .thread_id = answer.thread_id,
                     .body = to_json(response),
                     .conversation = {}};
  if (!answer.thread_id.empty()) return row;
  add_output(conversation, answer, response);
  row.conversation = to_json(conversation);
  return row;
}

Task<> store_response(ClientApi& api, StoredResponse response) {
  const auto oldest = response.created_at - max_response_age;
  co_await api.services().database.write([response = std::move(response), oldest](Connection& connection) {
    client_store::put_response(connection, response, oldest);
  });
}

}  // namespace agw
