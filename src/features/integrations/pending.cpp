#include "features/integrations/pending.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/async/assert.hpp"

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
    : requests_(requests), id_(id), responded_(requests.loop_) {
  AGW_ASSERT(id > 0);
  AGW_ASSERT(id <= requests_.last_id_);
  const bool is_new = requests_.waiting_.emplace(id, this).second;
  AGW_ASSERT(is_new);
  if (requests_.problem_.empty()) return;
  response_.problem = requests_.problem_;
  responded_.notify();
}

PendingRequests::Waiting::~Waiting() {
  const auto removed = requests_.waiting_.erase(id_);
  AGW_ASSERT(removed == 1);
}

Task<RpcResponse> PendingRequests::Waiting::response(milliseconds limit, milliseconds max_total, StopSource& stop,
                                                     const WaitClock* waits) {
  AGW_ASSERT(limit <= max_total);
  const auto waited = [waits] { return waits ? waits->waited() : WaitClock::Clock::duration(); };
  auto last = steady_clock::now() + max_total;
  auto counted = waited();
  for (;;) {
    progressed_ = false;
    const auto left = std::chrono::duration_cast<milliseconds>(last - steady_clock::now());
    const auto end = co_await with_timeout(stop, std::min(limit, left), responded_.wait());
    if (end == WaitResult::done) co_return std::move(response_);
    if (end == WaitResult::stopped) co_return RpcResponse{.problem = "stopped"};
    const auto more = waited() - counted;
    last += more;
    counted += more;
    if ((progressed_ || more.count() > 0) && steady_clock::now() < last) continue;
    co_return RpcResponse{
        .problem = fmt::format("no answer within {} s",
                               std::chrono::ceil<std::chrono::seconds>(std::min(limit, max_total)).count()),
        .timed_out = true};
  }
}

bool PendingRequests::take(const RpcMessage& response) {
  AGW_ASSERT(thread_.is_current());

  const auto id = number_in(response.id);
  const auto found = id ? waiting_.find(*id) : waiting_.end();
  if (found == waiting_.end()) return false;
  auto& waiting = *found->second;
  waiting.response_ = {.result = response.result, .error = response.error};
  waiting.responded_.notify();
  return true;
}

void PendingRequests::note_progress(const RpcMessage& notification) {
  AGW_ASSERT(thread_.is_current());

  const auto* token = notification.params.if_contains("progressToken");
  const auto id = token ? number_in(*token) : std::nullopt;
  const auto found = id ? waiting_.find(*id) : waiting_.end();
  if (found != waiting_.end()) found->second->progressed_ = true;
}

void PendingRequests::fail_all(const std::string& problem) {
  AGW_ASSERT(thread_.is_current());
  AGW_ASSERT(!problem.empty());

  problem_ = problem;
  for (auto& [id, waiting] : waiting_) {
    waiting->response_ = {.problem = problem};
    waiting->responded_.notify();
  }
}

}  // namespace agw
