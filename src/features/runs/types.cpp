#include "features/runs/types.hpp"

#include "base/json/describe.hpp"

namespace agw {

BOOST_DESCRIBE_ENUM(RunStatus, queued, started, finished, stopped, interrupted, steered)
std::span<const EnumName> names(Tag<RunStatus>) { return enum_names<RunStatus>(); }

BOOST_DESCRIBE_STRUCT(EventsQuery, (), (runId, after))
constexpr auto rules(Tag<EventsQuery>) {
  return std::tuple{RuleFor<&EventsQuery::runId>{{.about = "the run whose events are asked for"}},
                    RuleFor<&EventsQuery::after>{{.about = "the last seq that the client has", .has_default = true}}};
}
const Description& describe(Tag<EventsQuery>) { return description_of<EventsQuery>("EventsQuery"); }

}  // namespace agw
