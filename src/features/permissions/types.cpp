#include "features/permissions/types.hpp"

#include "base/json/describe.hpp"

namespace agw {

BOOST_DESCRIBE_ENUM(ToolScope, read, write, execute, network)
std::span<const EnumName> names(Tag<ToolScope>) { return enum_names<ToolScope>(); }

BOOST_DESCRIBE_STRUCT(ModeDetail, (), (name, label, color, description, systemPrompt, allowedTools, requiresApproval))
constexpr auto rules(Tag<ModeDetail>) {
  return std::tuple{
      RuleFor<&ModeDetail::systemPrompt>{{.about = "added to the agent's own system prompt; may be empty"}},
      RuleFor<&ModeDetail::allowedTools>{{.about = "names of tools; null means all"}}};
}
const Description& describe(Tag<ModeDetail>) { return description_of<ModeDetail>("Mode"); }

}  // namespace agw
