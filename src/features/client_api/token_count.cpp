#include "features/client_api/token_count.hpp"

#include "features/context/service.hpp"

namespace agw {

namespace {

/// Approximately the tokens of the largest picture that services do not scale down.
constexpr std::int64_t tokens_per_picture = 1'600;
/// For the role and the separator.
constexpr std::int64_t tokens_per_message = 4;

std::int64_t tokens_of(const Message& message) {
  auto tokens = tokens_per_message + estimated_tokens(std::string_view(message.text));
  tokens += static_cast<std::int64_t>(message.images.size()) * tokens_per_picture;
  for (const auto& use : message.tool_uses) tokens += estimated_tokens(std::string_view(use.name + to_json(use.input)));
  if (!message.provider_blocks.empty()) tokens += estimated_tokens(std::string_view(to_json(message.provider_blocks)));
  return tokens;
}

}  // namespace

std::int64_t estimated_tokens(const ClientRequest& request) {
  auto tokens = estimated_tokens(std::string_view(request.call.system));
  for (const auto& message : request.call.messages) tokens += tokens_of(message);
  for (const auto& tool : request.call.tools) tokens += estimated_tokens(tool);
  return tokens;
}

}  // namespace agw
