#include "features/client_api/types.hpp"

#include <algorithm>

#include "base/text/ascii.hpp"

namespace agw {

std::string client_product(std::optional<std::string_view> user_agent) {
  constexpr std::size_t longest = 64;
  const auto is_allowed = [](char c) { return is_alphanumeric(c) || c == '.' || c == '_' || c == '-'; };
  const auto agent = user_agent.value_or(std::string_view());
  const auto end = std::ranges::find_if_not(agent, is_allowed);
  std::string product(agent.begin(), end);
  product.resize(std::min(product.size(), longest));
  return product.empty() ? "api" : product;
}

void take_headers(ClientRequest& asked, const Request& request) {
  asked.client = client_product(request.header("user-agent"));
  if (const auto thread = request.header("x-thread-id")) asked.thread_id = std::string(*thread);
  asked.is_repeatable = !request.header("idempotency-key").value_or("").empty();
}

}  // namespace agw
