#include "features/integrations/status_types.hpp"

#include "base/json/describe.hpp"

namespace agw {

BOOST_DESCRIBE_ENUM(IntegrationStatus, disabled, connecting, connected, failed)
std::span<const EnumName> names(Tag<IntegrationStatus>) { return enum_names<IntegrationStatus>(); }

BOOST_DESCRIBE_STRUCT(IntegrationTool, (), (name, description))
const Description& describe(Tag<IntegrationTool>) { return description_of<IntegrationTool>("IntegrationTool"); }

BOOST_DESCRIBE_STRUCT(IntegrationState, (), (id, name, kind, status, problem, tools))
constexpr auto rules(Tag<IntegrationState>) {
  return std::tuple{RuleFor<&IntegrationState::problem>{{.about = "why it failed"}},
                    RuleFor<&IntegrationState::tools>{{.about = "those that agents may be offered"}}};
}
const Description& describe(Tag<IntegrationState>) { return description_of<IntegrationState>("IntegrationState"); }

}  // namespace agw
