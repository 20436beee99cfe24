#include "features/client_tools/lender.hpp"

#include <chrono>
#include <utility>

#include "base/async/assert.hpp"
#include "base/json/json_values.hpp"

namespace agw {

namespace {

constexpr std::chrono::minutes answer_timeout{15};

}  // namespace

Task<std::optional<json::object>> Lender::ask(json::object request, StopSource& stop) {
  if (!socket_) co_return std::nullopt;
  const auto id = std::to_string(++last_);
  request["callId"] = id;
  const auto asked = std::make_shared<Asked>();
  AGW_ASSERT(!asked_.contains(id));
  asked_[id] = asked;
  socket_->send(to_json(request));
  co_await with_timeout(stop, answer_timeout, until_requested(asked->answered));
  asked_.erase(id);
  if (!asked->answered.requested() && socket_) socket_->send(to_json(json::object{{"type", "cancel"}, {"callId", id}}));
  co_return std::move(asked->result);
}

bool Lender::take_result(json::object message) {
  const auto found = asked_.find(string_or_empty(message, "callId"));
  if (found == asked_.end()) return false;
  const auto asked = found->second;
  if (!asked->answered.requested()) asked->result = std::move(message);
  asked->answered.request();
  return true;
}

void Lender::leave() {
  AGW_ASSERT(socket_);
  socket_ = nullptr;
  for (const auto& [id, asked] : std::exchange(asked_, {})) asked->answered.request();
}

}  // namespace agw
