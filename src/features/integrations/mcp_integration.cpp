#include "features/integrations/mcp_integration.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/log.hpp"
#include "tools/tool.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr auto wait_for_connection = 15s;
constexpr auto stable_after = 30s;

}  // namespace

McpIntegration::McpIntegration(Loop& loop, IntegrationSettings settings, std::string host, MakeTransport transport,
                               std::function<std::chrono::milliseconds()> closing)
    : Integration(std::move(settings)),
      loop_(loop),
      host_(std::move(host)),
      make_transport_(std::move(transport)),
      closing_(std::move(closing)),
      connected_(loop) {}

McpIntegration::~McpIntegration() = default;

Task<> McpIntegration::run(StopSource& stop) {
  while (!stop.requested()) {
    const bool knows_era = era_.has_value();
    const bool was_connected = co_await attempt(stop);
    // Many servers end at a request that they do not know before the handshake; they do not get it again.
    if (!was_connected && !knows_era && era_ == McpEra::legacy && !stop.requested()) co_await attempt(stop);
    note_tried();
    if (stop.requested()) co_return;
    const auto wait = backoff_after(failures_);
    log::warn("integration {}: {}; next attempt in {} s", settings().name, problem_,
              std::chrono::duration_cast<std::chrono::seconds>(wait).count());
    co_await pause(stop, wait);
  }
}

/// Runs one session from start to end. Returns whether it was usable.
Task<bool> McpIntegration::attempt(StopSource& stop) {
  AGW_ASSERT(!session_);
  const auto session = std::make_shared<McpSession>(loop_, settings().name, make_transport_());
  const auto began = std::chrono::steady_clock::now();
  problem_ = co_await session->open(era_, stop);
  era_ = session->era();
  const bool is_usable = problem_.empty();
  if (is_usable) {
    log::info("integration {}: connected, {} tools", settings().name, session->tools().size());
    session_ = session;
    connected_.notify();
    offer_tools();
    problem_ = co_await session->run(stop, [this] { offer_tools(); });
    leave_session();
    if (std::chrono::steady_clock::now() - began > stable_after) failures_ = 0;
  }
  ++failures_;
  co_await session->close(closing_());
  co_return is_usable;
}

/// Makes later calls wait for the next session.
void McpIntegration::leave_session() {
  connected_.reset();
  session_.reset();
}

void McpIntegration::offer_tools() {
  if (session_) offer(session_->tools());
}

Task<ToolOutcome> McpIntegration::call(std::string tool, const ToolCall& call) {
  if (auto why = refusal_of(call, host_); !why.empty()) co_return failed(std::move(why));
  for (int attempt = 0;; ++attempt) {
    co_await with_timeout(call.stop, wait_for_connection, connected_.wait());
    const auto session = session_;
    if (!session) {
      co_return failed(fmt::format("the integration {} is not connected: {}", settings().name,
                                   problem_.empty() ? "it does not answer yet" : problem_));
    }
    auto result = co_await session->call(tool, call.input, call.stop, &call);
    if (result.session_lost && session_ == session) leave_session();
    if (!result.session_lost || attempt > 0) co_return std::move(result.outcome);
  }
}

}  // namespace agw
