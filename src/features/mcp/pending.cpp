#include "features/mcp/pending.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace agw {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::optional<std::int64_t> number_in(const json::value& id) {
  if (id.is_int64()) return id.get_int64();
  return std::nullopt;
}

}  // namespace

PendingRequests::Waiting::Waiting(PendingRequests& requests, std::int64_t id)
    : requests_(requests), id_(id), answered_(requests.loop_) {
  requests_.waiting_.emplace(id, this);
  if (requests_.problem_.empty()) return;
  answer_.problem = requests_.problem_;
  answered_.notify();
}

PendingRequests::Waiting::~Waiting() { requests_.waiting_.erase(id_); }

Task<RpcAnswer> PendingRequests::Waiting::answer(milliseconds limit, milliseconds most, Stop& stop) {
  const auto last = steady_clock::now() + most;
  for (;;) {
    progressed_ = false;
    const auto left = std::chrono::duration_cast<milliseconds>(last - steady_clock::now());
    const auto end = co_await cut(stop, std::min(limit, left), answered_.wait());
    if (end == End::done) co_return std::move(answer_);
    if (end == End::stopped) co_return RpcAnswer{.problem = "stopped"};
    if (progressed_ && steady_clock::now() < last) continue;
    co_return RpcAnswer{.problem = fmt::format("no answer within {} s",
                                               std::chrono::ceil<std::chrono::seconds>(std::min(limit, most)).count()),
                        .timed_out = true};
  }
}

bool PendingRequests::take(const RpcMessage& answer) {
  const auto id = number_in(answer.id);
  const auto found = id ? waiting_.find(*id) : waiting_.end();
  if (found == waiting_.end()) return false;
  auto& waiting = *found->second;
  waiting.answer_ = {.result = answer.result, .error = answer.error};
  waiting.answered_.notify();
  return true;
}

void PendingRequests::note_progress(const RpcMessage& notification) {
  const auto* token = notification.params.if_contains("progressToken");
  const auto id = token ? number_in(*token) : std::nullopt;
  const auto found = id ? waiting_.find(*id) : waiting_.end();
  if (found != waiting_.end()) found->second->progressed_ = true;
}

void PendingRequests::fail_all(const std::string& problem) {
  problem_ = problem;
  for (auto& [id, waiting] : waiting_) {
    waiting->answer_ = {.problem = problem};
    waiting->answered_.notify();
  }
}

}  // namespace agw
