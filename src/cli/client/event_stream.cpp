#include "cli/client/event_stream.hpp"

#include <stdexcept>

#include <fmt/format.h>

#include "base/async/cancellation.hpp"
#include "base/json/json_values.hpp"
#include "cli/client/gateway_stream.hpp"

namespace agw::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto subscribe_limit = 10s;

/// Discards the events of all threads that arrive until the subscription is confirmed.
Task<> subscribe(MessageStream& messages, std::string thread_id, bool approvals, bool& is_subscribed) {
  json::object message{{"type", "subscribe"}, {"threadId", thread_id}, {"approvals", approvals}};
  if (!co_await messages.send(to_json(message))) co_return;
  while (const auto reply = co_await messages.next()) {
    is_subscribed = string_member(*reply, "type") == "subscribed";
    if (is_subscribed) co_return;
  }
}

}  // namespace

Task<std::unique_ptr<EventStream>> EventStream::open(const FoundGateway& gateway, std::string thread_id,
                                                     bool approvals) {
  auto messages = co_await MessageStream::open(gateway, "/ws");
  StopSource never;
  bool is_subscribed = false;
  co_await with_timeout(never, subscribe_limit, subscribe(*messages, thread_id, approvals, is_subscribed));
  if (!is_subscribed) throw std::runtime_error(fmt::format("the gateway at {} sends no events", gateway.url));
  co_return std::unique_ptr<EventStream>(new EventStream(std::move(messages)));
}

}  // namespace agw::cli
