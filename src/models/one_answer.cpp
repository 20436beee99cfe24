#include "models/one_answer.hpp"

#include "base/log.hpp"
#include "models/retry.hpp"

namespace agw {

namespace {

constexpr std::int64_t output_tokens = 1'024;

}  // namespace

Task<std::optional<std::string>> one_answer(const Models& models, std::string instructions, std::string request,
                                            Stop& stop) {
  const auto resolved = models.resolve({});
  const auto* choice = std::get_if<ModelChoice>(&resolved);
  if (!choice || choice->provider_name == offline_provider) co_return std::nullopt;
  ModelRequest asked;
  asked.system = std::move(instructions);
  asked.messages.push_back({.text = std::move(request)});
  asked.max_output_tokens = output_tokens;
  std::string text;
  const auto on_delta = [&](const Delta& delta) {
    if (delta.kind == Delta::Kind::text) text += delta.text;
  };
  const auto answered = co_await answer_with_retries({*choice}, std::move(asked), on_delta, stop);
  if (const auto* failure = std::get_if<ModelFailure>(&answered.outcome)) {
    log::warn("a text of the gateway's own was not made: {}", failure->message);
    co_return std::nullopt;
  }
  if (text.empty()) co_return std::nullopt;
  co_return text;
}

}  // namespace agw
