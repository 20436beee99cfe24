#include "tools/tool.hpp"

namespace agw {

Task<Permission> ToolCall::permit(ToolTarget target, std::string diff) const {
  auto permission = authorize(target);
  if (permission.verdict != Permission::Verdict::ask) co_return permission;
  if (ask_permission) co_return co_await ask_permission(std::move(target), std::move(diff));
  permission.verdict = permission.otherwise;
  co_return permission;
}

}  // namespace agw
