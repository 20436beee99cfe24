#include "base/async/assert.hpp"
#include "features/permissions/service.hpp"

namespace agw {

namespace {

constexpr auto plan_prompt =
    "You are in plan mode. Explore with the tools that you have; they only read. Change nothing, and do not say that "
    "you did. End your answer with a plan: the steps in order, what each one touches, what could go wrong, and what "
    "you still need to know. The person approves the plan by switching the thread to act mode.";

std::vector<ModeDetail> make_modes() {
  return {{.name = "plan",
           .label = "Plan",
           .color = "#f59e0b",
           .description = "Read-only exploration that presents a plan",
           .systemPrompt = plan_prompt,
           .allowedTools = std::vector<std::string>{"Read", "Glob", "Grep", "WebFetch", "WebSearch"},
           .requiresApproval = true},
          {.name = "act",
           .label = "Act",
           .color = "#3b82f6",
           .description = "Full tool access",
           .systemPrompt = "",
           .allowedTools = std::nullopt,
           .requiresApproval = false}};
}

}  // namespace

const std::vector<ModeDetail>& modes() {
  static const auto all = make_modes();
  return all;
}

const ModeDetail& mode_detail(ThreadMode mode) {
  const auto& detail = modes().at(static_cast<std::size_t>(mode));
  // The list is in the order of the enumerators.
  AGW_DEBUG_ASSERT(detail.name == to_text(mode));
  return detail;
}

}  // namespace agw
