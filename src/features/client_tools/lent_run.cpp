#include "features/client_tools/lent_run.hpp"

#include <utility>

#include "base/async/assert.hpp"
#include "base/json/json_values.hpp"

namespace agw {

LentRun::LentRun(std::shared_ptr<Lender> lender) : lender_(std::move(lender)), lent_(lender_->lent()) {}

void LentRun::call(const std::vector<ToolUse>& uses) {
  calls_.clear();
  for (const auto& use : uses) {
    json::object request{{"type", "call"}, {"toolCallId", use.id}, {"tool", use.name}, {"input", use.input}};
    if (use.is_malformed) request["input"] = use.arguments;
    calls_[use.id] = std::move(request);
  }
  // Each call has its own id in a run, whatever the model has sent (ContextWindow::add_reply).
  AGW_DEBUG_ASSERT(calls_.size() == uses.size());
}

/// Asks the program when it is the call's turn, so that calls of one step are made in order.
Task<RunClient::Result> LentRun::result(std::string call_id, StopSource& stop) {
  const auto found = calls_.find(call_id);
  if (found == calls_.end()) co_return Result{"the program that has this tool was not asked", true};
  const auto result = co_await lender_->ask(std::move(found->second), stop);
  if (!result) co_return Result{"the program that has this tool does not answer any more", true};
  co_return Result{string_or_empty(*result, "output"), is_true(*result, "isError")};
}

Task<std::optional<std::string>> LentRun::read(std::string path, StopSource& stop) {
  if (!lent_.reads_files) co_return std::nullopt;
  const auto result = co_await lender_->ask({{"type", "read"}, {"path", path}}, stop);
  if (!result || is_true(*result, "isError")) co_return std::nullopt;
  const auto content = string_member(*result, "content");
  co_return content ? std::optional(std::string(*content)) : std::nullopt;
}

Task<bool> LentRun::write(std::string path, std::string text, StopSource& stop) {
  if (!lent_.writes_files) co_return false;
  const auto result = co_await lender_->ask({{"type", "write"}, {"path", path}, {"content", text}}, stop);
  co_return result && !is_true(*result, "isError");
}

}  // namespace agw
