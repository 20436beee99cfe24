// Messages that join the active answer.

#include "features/engine/steering.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "base/async/assert.hpp"
#include "base/json/json_values.hpp"
#include "base/log_ids.hpp"

namespace agw {

namespace {

/// Whether the message does not specify `member`, or specifies the value that the run has.
bool asks_for_nothing_else(const Run& message, std::string_view member, const Run& run, std::string_view current) {
  const auto wanted = string_member(message.order, member);
  return !wanted || *wanted == current || wanted == string_member(run.order, member);
}

bool may_join(const ActiveRun& message, const SteeredRun& run) {
  if (!message.recorded || message.started || message.stop.requested() || !is_steering(message.run)) return false;
  const auto& into = run.active->run;
  return message.run.agent_id == into.agent_id && asks_for_nothing_else(message.run, "mode", into, to_text(run.mode)) &&
         asks_for_nothing_else(message.run, "model", into, run.model);
}

}  // namespace

bool is_steering(const Run& run) { return string_member(run.order, delivery_member).has_value(); }

std::vector<ActiveRunPointer> messages_for(const Runs& runs, const SteeredRun& run) {
  std::vector<ActiveRunPointer> messages;
  for (auto& waiting : runs.of_thread(run.active->run.thread_id)) {
    if (waiting != run.active && may_join(*waiting, run)) messages.push_back(std::move(waiting));
  }
  return messages;
}

Task<std::vector<UserMessage>> steer(const EngineServices& services, ActiveRunPointer active,
                                     std::vector<ActiveRunPointer> messages, std::int64_t after_step) {
  AGW_ASSERT(!messages.empty());
  // Shared, because a write copies its closure and may run it again.
  const auto turns = std::make_shared<std::vector<Turn>>();
  const SteeredPlace place{active->run.turn_id, active->run.id, after_step};
  try {
    co_await services.runs.steer(active, messages, after_step, [turns, messages, place](Connection& connection) {
      turns->clear();
      for (const auto& message : messages) turns->push_back(Threads::steer(connection, message->run.turn_id, place));
    });
  } catch (const std::exception& error) {
    log::warn({.run = active->run.id}, "{} messages wait for the end of the run: {}", messages.size(), error.what());
    co_return std::vector<UserMessage>();
  }
  AGW_ASSERT(turns->size() == messages.size());
  std::vector<UserMessage> steered;
  steered.reserve(turns->size());
  for (std::size_t i = 0; i < turns->size(); ++i) {
    AGW_ASSERT((*turns)[i].id == messages[i]->run.turn_id);
    const auto expanded = string_member(messages[i]->run.order, "text");
    steered.push_back({std::move((*turns)[i]), expanded ? std::optional<std::string>(*expanded) : std::nullopt});
  }
  co_return steered;
}

}  // namespace agw
