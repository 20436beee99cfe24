#include "features/integrations/integration.hpp"

#include <algorithm>

#include "base/async/assert.hpp"

namespace agw {

std::chrono::milliseconds backoff_after(int failures) {
  AGW_ASSERT(failures >= 0);
  return std::chrono::seconds(std::min(60, 1 << std::clamp(failures - 1, 0, 6)));
}

std::string refusal_of(const ToolCall& call, const std::string& host) {
  ToolTarget target;
  if (!host.empty()) target.host = host;
  return call.authorize(target).reason;
}

}  // namespace agw
