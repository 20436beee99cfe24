#include "features/client_api/service.hpp"

#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "api/client_errors.hpp"
#include "features/client_api/compaction.hpp"
#include "features/client_api/response_history.hpp"
#include "features/client_api/response_socket.hpp"
#include "features/client_api/responses.hpp"
#include "storage/database.hpp"

namespace agw {

namespace {

ApiError no_response(const std::string& id) {
  return client_error(404, fmt::format("no response has the id `{}`", id), {}, "response_not_found");
}

Task<StoredResponse> require_response(ClientApi& api, std::string id) {
  auto found = co_await find_response(api, id);
  if (!found) throw no_response(id);
  co_return std::move(*found);
}

/// The response that the request continues.
Task<std::optional<StoredResponse>> previous_response(ClientApi& api, std::optional<std::string> id) {
  if (!id) co_return std::nullopt;
  auto found = co_await find_response(api, *id);
  if (!found) throw previous_response_not_found(*id);
  co_return found;
}

StoreResponse storing(ClientApi& api, json::array conversation) {
  return [&api, conversation = std::move(conversation)](const ClientAnswer& answer, json::object response) -> Task<> {
    co_await store_response(api, stored_response(api, answer, response, conversation));
  };
}

Task<> create_response(ClientApi& api, Request& request, ProxyStream& stream) {
  auto read = read_response_request(*co_await api.read_body(stream));
  const auto previous = co_await previous_response(api, read.previous);
  check_length(api, previous);
  co_await resolve_references(api, read.input);
  auto conversation = continue_response(read, previous);
  read_headers(read.request, request);
  const auto writer =
      response_writer(std::move(read.shown), read.stores ? storing(api, std::move(conversation)) : StoreResponse(),
                      read.includes_reasoning);
  co_await api.answer(std::move(read.request), *writer, stream);
}

Task<> serve_socket(ClientApi& api, Request& request, MessageSocket& socket) {
  ResponseSocket responses(api, socket, request);
  co_await responses.serve();
}

Task<> compact_conversation(ClientApi& api, Request& request, ProxyStream& stream) {
  auto read = read_response_request(*co_await api.read_body(stream));
  if (api.services().extensions.find_agent(read.request.model))
    throw bad_parameter("model", "must be a model: agents compact their threads themselves", "unsupported_value");
  const auto previous = co_await previous_response(api, read.previous);
  co_await resolve_references(api, read.input);
  auto conversation = continue_response(read, previous);
  read.request.call.messages.push_back(compaction_request());
  read.request.call.tools.clear();
  read.request.stream = false;
  read.request.client = client_product(request.header("user-agent"));
  const auto writer = compaction_writer(std::move(conversation));
  co_await api.answer(std::move(read.request), *writer, stream);
}

Task<Response> show_response(ClientApi& api, Request& request) {
  auto stored = co_await require_response(api, request.path("id"));
  if (request.query<StoredResponseQuery>().stream)
    throw bad_parameter("stream", "the events of a response are not stored: leave it out", "unsupported_parameter");
  co_return Response{.body = std::move(stored.body)};
}

Task<Response> delete_response(ClientApi& api, Request& request) {
  const auto id = request.path("id");
  const bool existed = co_await api.services().database.write(
      [id](Connection& connection) { return client_store::remove_response(connection, id); });
  if (!existed) throw no_response(id);
  co_return Response{.body = to_json(json::object{{"id", id}, {"object", "response"}, {"deleted", true}})};
}

/// Always fails: only background responses can be cancelled, and the gateway does not support these.
Task<Response> cancel_response(ClientApi& api, Request& request) {
  co_await require_response(api, request.path("id"));
  throw client_error(400, "Cannot cancel a synchronous response: disconnect to stop it.", {}, "not_cancellable");
}

}  // namespace

Routes response_routes(ClientApi& api) {
  return {
      post_stream("/v1/responses", "Answer as OpenAI's Responses do", create_response, api)
          .opens_socket(serve_socket, api)
          .begins_a_run()
          .is_repeatable()
          .any_object()
          .responds<json::object>()
          .fails_with({400, 404, 409, 429, 502, 503, 507}),
      post_stream("/v1/responses/compact", "Have a model summarise a conversation", compact_conversation, api)
          .begins_a_run()
          .is_repeatable()
          .any_object()
          .responds<json::object>()
          .fails_with({400, 404, 429, 502, 503}),
      get("/v1/responses/:id", "Show a stored response", show_response, api)
          .query<StoredResponseQuery>()
          .responds<json::object>()
          .fails_with({400, 404}),
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
