#include "features/costs/background_completions.hpp"

#include "base/log.hpp"
#include "features/extensions/service.hpp"
#include "models/retry.hpp"
#include "storage/database.hpp"

namespace agw {

namespace {

constexpr std::int64_t output_tokens = 1'024;
constexpr std::string_view paying_agent = "assistant";

}  // namespace

BackgroundCompletions::BackgroundCompletions(Database& database, const Models& models, const Extensions& extensions,
                                             Costs& costs)
    : database_(database), models_(models), extensions_(extensions), costs_(costs) {}

Task<std::optional<std::string>> BackgroundCompletions::write(std::string instructions, std::string request,
                                                              StopSource& stop) {
  const auto resolved = models_.resolve({});
  const auto* choice = std::get_if<ModelChoice>(&resolved);
  const auto agent = extensions_.find_agent(paying_agent);
  if (!choice || choice->provider_name == offline_provider || !agent || !costs_.may_spend(*agent))
    co_return std::nullopt;
  ModelRequest asked;
  asked.system = std::move(instructions);
  asked.messages.push_back({.text = std::move(request)});
  asked.max_output_tokens = output_tokens;
  asked.agent_id = agent->id;
  std::string text;
  const auto on_delta = [&](const Delta& delta) {
    if (delta.kind == Delta::Kind::text) text += delta.text;
  };
  const auto completion = co_await answer_with_retries({*choice}, std::move(asked), on_delta, stop);
  const auto* failure = std::get_if<ModelFailure>(&completion.outcome);
  if (!failure || completion.usage() != Usage{}) {
    co_await database_.write([spending = costs_.spend(*agent, "", completion)](Connection& connection) {
      Costs::record(connection, {spending});
    });
  }
  if (failure) log::warn("the gateway could not write a text with the model: {}", failure->message);
  if (failure || text.empty()) co_return std::nullopt;
  co_return text;
}

}  // namespace agw
