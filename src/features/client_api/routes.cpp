#include "features/client_api/routes.hpp"

#include <string>

#include "features/client_api/chat_completions.hpp"
#include "features/client_api/service.hpp"

namespace agw {

namespace {

Task<> complete_chat(ClientApi& api, Request& request, ProxyStream& stream) {
  auto [asked, includes_usage] = read_chat_completion(co_await api.read_body(stream));
  asked.client = client_product(request.header("user-agent"));
  if (const auto thread = request.header("x-thread-id")) asked.thread_id = std::string(*thread);
  const auto writer = chat_completion_writer(includes_usage);
  co_await api.answer(std::move(asked), *writer, stream);
}

}  // namespace

Routes openai_routes(ClientApi& api) {
  return {
      post_stream("/v1/chat/completions", "Answer as OpenAI's Chat Completions do", complete_chat, api)
          .any_object()
          .responds<json::object>()
          .fails_with({400, 404, 429, 502, 503}),
  };
}

}  // namespace agw
