#include "features/client_api/response_routes.hpp"

#include <chrono>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "api/client_errors.hpp"
#include "features/client_api/compaction.hpp"
#include "features/client_api/responses.hpp"
#include "features/client_api/service.hpp"
#include "features/client_api/store.hpp"
#include "storage/database.hpp"

namespace agw {

namespace {

constexpr std::chrono::days responses_kept{30};

ApiError no_response(const std::string& id, std::string param = {}) {
  return client_error(404, fmt::format("no response has the id `{}`", id), std::move(param), "response_not_found");
}

Task<client_store::StoredResponse> require_response(ClientApi& api, std::string id, std::string param = {}) {
  auto found = co_await api.services().database.read(
      [id](Connection& connection) { return client_store::find_response(connection, id); });
  if (!found) throw no_response(id, param);
  co_return std::move(*found);
}

/// What the request continues: a thread, or the items before it.
Task<json::array> items_before(ClientApi& api, ResponseRequest& read) {
  if (!read.previous) co_return json::array();
  auto previous = co_await require_response(api, *read.previous, "previous_response_id");
  if (!previous.thread_id.empty()) read.request.thread_id = previous.thread_id;
  if (previous.conversation.empty()) co_return json::array();
  co_return parse_stored_json(previous.conversation).as_array();
}

/// The output that a later request repeats: messages and calls.
void add_output(json::array& conversation, const json::object& response) {
  for (const auto& item : response.at("output").as_array()) {
    if (item.at("type") != "reasoning") conversation.push_back(item);
  }
}

StoreResponse storing(ClientApi& api, json::array conversation) {
  return [&api, conversation = std::move(conversation)](const ClientAnswer& answer, json::object response) -> Task<> {
    client_store::StoredResponse row{.id = std::string(response.at("id").as_string()),
                                     .created_at = api.services().clock.now(),
                                     .thread_id = answer.thread_id,
                                     .body = to_json(response),
                                     .conversation = {}};
    if (answer.thread_id.empty()) {
      auto items = conversation;
      add_output(items, response);
      row.conversation = to_json(items);
    }
    const auto oldest = row.created_at - responses_kept;
    co_await api.services().database.write(
        [row, oldest](Connection& connection) { client_store::put_response(connection, row, oldest); });
  };
}

Task<> create_response(ClientApi& api, Request& request, ProxyStream& stream) {
  auto read = read_response_request(co_await api.read_body(stream));
  auto conversation = co_await items_before(api, read);
  conversation.insert(conversation.end(), read.input.begin(), read.input.end());
  add_input(read.request, conversation);
  read.request.client = client_product(request.header("user-agent"));
  if (const auto thread = request.header("x-thread-id")) read.request.thread_id = std::string(*thread);
  const auto writer =
      response_writer(std::move(read.shown), read.stores ? storing(api, std::move(conversation)) : StoreResponse());
  co_await api.answer(std::move(read.request), *writer, stream);
}

Task<> compact_conversation(ClientApi& api, Request& request, ProxyStream& stream) {
  auto read = read_response_request(co_await api.read_body(stream));
  if (api.services().extensions.find_agent(read.request.model))
    throw bad_parameter("model", "must be a model: agents compact their threads themselves", "unsupported_value");
  auto conversation = co_await items_before(api, read);
  conversation.insert(conversation.end(), read.input.begin(), read.input.end());
  add_input(read.request, conversation);
  read.request.call.messages.push_back(compaction_request());
  read.request.call.tools.clear();
  read.request.stream = false;
  read.request.client = client_product(request.header("user-agent"));
  const auto writer = compaction_writer(std::move(conversation));
  co_await api.answer(std::move(read.request), *writer, stream);
}

Task<Response> show_response(ClientApi& api, Request& request) {
  co_return Response{.body = (co_await require_response(api, request.path("id"))).body};
}

Task<Response> delete_response(ClientApi& api, Request& request) {
  const auto id = request.path("id");
  const bool existed = co_await api.services().database.write(
      [id](Connection& connection) { return client_store::remove_response(connection, id); });
  if (!existed) throw no_response(id);
  co_return Response{.body = to_json(json::object{{"id", id}, {"object", "response"}, {"deleted", true}})};
}

/// Only responses in the background can be, and there are none.
Task<Response> cancel_response(ClientApi& api, Request& request) {
  co_await require_response(api, request.path("id"));
  throw client_error(400, "Cannot cancel a synchronous response: disconnect to stop it.", {}, "not_cancellable");
}

}  // namespace

Routes response_routes(ClientApi& api) {
  return {
      post_stream("/v1/responses", "Answer as OpenAI's Responses do", create_response, api)
          .any_object()
          .responds<json::object>()
          .fails_with({400, 404, 409, 429, 502, 503}),
      post_stream("/v1/responses/compact", "Have a model sum up a conversation", compact_conversation, api)
          .any_object()
          .responds<json::object>()
          .fails_with({400, 404, 429, 502, 503}),
      get("/v1/responses/:id", "Show a stored response", show_response, api).responds<json::object>().fails_with({404}),
      remove("/v1/responses/:id", "Delete a stored response", delete_response, api)
          .responds<json::object>()
          .fails_with({404}),
      post("/v1/responses/:id/cancel", "Cancel a response in the background, of which there are none", cancel_response,
           api)
          .responds<json::object>()
          .fails_with({400, 404}),
  };
}

}  // namespace agw
