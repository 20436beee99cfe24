#include "features/client_api/types.hpp"

#include <algorithm>

#include "base/text/ascii.hpp"

namespace agw {

std::string client_product(std::optional<std::string_view> user_agent) {
  constexpr std::size_t max_length = 64;
  const auto is_allowed = [](char c) { return is_alphanumeric(c) || c == '.' || c == '_' || c == '-'; };
  const auto agent = user_agent.value_or(std::string_view());
  const auto end = std::ranges::find_if_not(agent, is_allowed);
  std::string product(agent.begin(), end);
  product.resize(std::min(product.size(), max_length));
  return product.empty() ? "api" : product;
}

void name_thread_by_header(ClientRequest& client_request, std::string_view thread_id) {
  client_request.thread_id = std::string(thread_id);
  client_request.thread_param = "X-Thread-Id";
}

void read_headers(ClientRequest& client_request, const Request& request) {
  client_request.client = client_product(request.header("user-agent"));
  if (const auto thread = request.header("x-thread-id")) name_thread_by_header(client_request, *thread);
  client_request.is_repeatable = !request.header("idempotency-key").value_or("").empty();
}

}  // namespace agw
