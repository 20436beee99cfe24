#include "features/client_api/service.hpp"

#include <utility>

#include <boost/algorithm/string/join.hpp>

#include "api/client_errors.hpp"
#include "features/client_api/chat_completions.hpp"
#include "features/client_api/model_list.hpp"

namespace agw {

namespace {

Task<> complete_chat(ClientApi& api, Request& request, ProxyStream& stream) {
  auto [client_request, includes_usage] = read_chat_completion(*co_await api.read_body(stream));
  read_headers(client_request, request);
  const auto writer = chat_completion_writer(includes_usage);
  co_await api.answer(std::move(client_request), *writer, stream);
}

Protocol protocol_in(const Request& request) {
  return protocol_of("/v1/models", request.header("anthropic-version").has_value());
}

Task<Response> list_models_for_clients(ClientApi& api, Request& request) {
  co_await api.services().model_services.ask_for_list(false);
  if (protocol_in(request) == Protocol::openai) co_return list_models_as_openai(api.models());
  co_return list_models_as_anthropic(api.models(), request.query<ModelPage>());
}

/// Joins the rest of the path, because ids of models contain a slash, which only some programs encode.
Task<Response> show_model_to_clients(ClientApi& api, Request& request) {
  co_await api.services().model_services.ask_for_list(false);
  co_return show_client_model(api.models(), boost::join(request.rest(), "/"), protocol_in(request));
}

Task<> make_embeddings(ClientApi& api, Request& request, ProxyStream& stream) {
  auto body = co_await api.read_body(stream);
  const auto client = client_product(request.header("user-agent"));
  co_await ClientApi::respond(stream, to_json(co_await api.embed(std::move(*body), client, stream)));
}

}  // namespace

Routes openai_routes(ClientApi& api) {
  return {
      get("/v1/models", "List agents and models as OpenAI or Anthropic do", list_models_for_clients, api)
          .query<ModelPage>()
          .responds<json::object>(),
      get("/v1/models/*id", "Show an agent or a model as OpenAI or Anthropic do", show_model_to_clients, api)
          .responds<json::object>()
          .fails_with({400, 404}),
      post_stream("/v1/embeddings", "Create embeddings with a model, as OpenAI's API does", make_embeddings, api)
          .begins_a_run()
          .is_repeatable()
          .any_object()
          .responds<json::object>()
          .fails_with({400, 404, 429, 502, 503}),
      post_stream("/v1/chat/completions", "Answer as OpenAI's Chat Completions do", complete_chat, api)
          .begins_a_run()
          .is_repeatable()
          .any_object()
          .responds<json::object>()
          .fails_with({400, 404, 409, 429, 502, 503, 507}),
  };
}

Routes client_api_routes(ClientApi& api) {
  auto routes = openai_routes(api);
  for (auto part : {response_routes, anthropic_routes}) {
    for (auto& route : part(api)) routes.push_back(std::move(route));
  }
  return routes;
}

}  // namespace agw
