#include <string>

#include "features/client_api/anthropic_messages.hpp"
#include "features/client_api/service.hpp"
#include "features/client_api/token_count.hpp"

namespace agw {

namespace {

Task<> answer_messages(ClientApi& api, Request& request, ProxyStream& stream) {
  auto [client_request, thinking] = read_anthropic_messages(*co_await api.read_body(stream));
  read_headers(client_request, request);
  const auto writer = anthropic_message_writer(thinking);
  co_await api.answer(std::move(client_request), *writer, stream);
}

Task<> count_tokens(ClientApi& api, Request& /*request*/, ProxyStream& stream) {
  const auto client_request = read_anthropic_count(*co_await api.read_body(stream));
  api.require(client_request.model);
  co_await ClientApi::respond(stream, to_json(json::object{{"input_tokens", estimated_tokens(client_request)}}));
}

}  // namespace

Routes anthropic_routes(ClientApi& api) {
  return {
      post_stream("/v1/messages", "Answer as Anthropic's Messages do", answer_messages, api)
          .begins_a_run()
          .is_repeatable()
          .any_object()
          .responds<json::object>()
          .fails_with({400, 404, 409, 429, 502, 507, 529}),
      post_stream("/v1/messages/count_tokens", "Estimate the tokens of a request to Anthropic's Messages", count_tokens,
                  api)
          .is_repeatable()
          .any_object()
          .responds<json::object>()
          .fails_with({400, 404}),
  };
}

}  // namespace agw
