#include "features/engine/modes.hpp"

#include "base/describe.hpp"

namespace agw {

BOOST_DESCRIBE_STRUCT(ModeDescription, (),
                      (name, label, color, description, systemPrompt, allowedTools, requiresApproval))
constexpr auto rules(Tag<ModeDescription>) {
  return std::tuple{On<&ModeDescription::allowedTools>{{.about = "null means all tools"}}};
}
const Description& describe(Tag<ModeDescription>) { return description_of<ModeDescription>("Mode"); }

const std::vector<ModeDescription>& built_in_modes() {
  static const std::vector<ModeDescription> modes{
      {.name = "plan",
       .label = "Plan",
       .color = "#f59e0b",
       .description = "Read-only exploration that presents a plan for approval",
       .systemPrompt =
           "You are in plan mode. Explore with the tools you have, which only read, and change nothing. End "
           "with a plan: what you would do, step by step, and what it touches. You will be told to act once "
           "the plan is approved.",
       .allowedTools = {{"Read", "Glob", "Grep", "WebFetch", "WebSearch"}},
       .requiresApproval = true},
      {.name = "act",
       .label = "Act",
       .color = "#3b82f6",
       .description = "Full tool access",
       .systemPrompt = "",
       .allowedTools = std::nullopt,
       .requiresApproval = false},
  };
  return modes;
}

}  // namespace agw
