#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"
#include "features/integrations/types.hpp"
#include "tools/tool.hpp"

namespace agw {

/// A connection to one external service, which exists as long as its extension is enabled. Used on the loop.
class Integration {
public:
  explicit Integration(IntegrationSettings settings) : settings_(std::move(settings)) {}
  virtual ~Integration() = default;
  Integration(const Integration&) = delete;
  Integration& operator=(const Integration&) = delete;

  /// Connects, and reconnects whenever the connection is lost, until `stop`.
  virtual Task<> run(StopSource& stop) = 0;
  /// Calls a tool by the service's own name. Failures become error results.
  virtual Task<ToolOutcome> call(std::string tool, const ToolCall& call) = 0;

  /// Whether this node of a cluster runs it; always true if every node can.
  virtual bool is_here() const { return true; }
  /// Called when the placement has changed: another node may now run it, or none.
  virtual void placement_changed() {}

  /// Why the last attempt to connect failed; empty while connected, and until the first attempt has ended.
  virtual std::string problem() const { return ""; }

  /// The tools that the service listed most recently.
  const std::vector<OfferedTool>& tools() const { return tools_; }
  /// Whether the first attempt to connect has ended.
  bool has_tried() const { return has_tried_; }
  const IntegrationSettings& settings() const { return settings_; }

  /// Calls `handler` when `tools` or `has_tried` has changed.
  void on_change(std::function<void()> handler) { on_change_ = std::move(handler); }

protected:
  void offer(std::vector<OfferedTool> tools) {
    tools_ = std::move(tools);
    note_tried();
  }
  void note_tried() {
    has_tried_ = true;
    on_change_();
  }

private:
  IntegrationSettings settings_;
  std::vector<OfferedTool> tools_;
  bool has_tried_ = false;
  std::function<void()> on_change_ = [] {};
};

/// A pause that in practice only a stop ends.
inline constexpr std::chrono::milliseconds until_stopped = std::chrono::hours(24 * 365);

/// The delay before the next attempt to connect: 1 s, doubled after each failure, at most 60 s.
std::chrono::milliseconds backoff_after(int failures);

/// Why the caller's agent may not reach the host; empty if it may.
std::string refusal_of(const ToolCall& call, const std::string& host);

}  // namespace agw
