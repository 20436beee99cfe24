#include "features/briefings/types.hpp"

#include "base/json/describe.hpp"

namespace agw {

BOOST_DESCRIBE_STRUCT(BriefingEntry, (), (id, title, at))
const Description& describe(Tag<BriefingEntry>) { return description_of<BriefingEntry>("BriefingEntry"); }

BOOST_DESCRIBE_STRUCT(Briefing, (),
                      (project_id, generated_at, stale, summary, threads, jobs, proposals, costs, highlights))
constexpr auto rules(Tag<Briefing>) {
  return std::tuple{RuleFor<&Briefing::stale>{{.about = "a newer one is being made"}},
                    RuleFor<&Briefing::costs>{{.about = "USD of today"}},
                    RuleFor<&Briefing::highlights>{{.about = "signals of the last day"}}};
}
const Description& describe(Tag<Briefing>) { return description_of<Briefing>("Briefing"); }

BOOST_DESCRIBE_STRUCT(BriefingQuery, (), (project_id))
constexpr auto rules(Tag<BriefingQuery>) {
  return std::tuple{RuleFor<&BriefingQuery::project_id>{{.about = "of this project only"}}};
}
const Description& describe(Tag<BriefingQuery>) { return description_of<BriefingQuery>("BriefingQuery"); }

BOOST_DESCRIBE_STRUCT(Pulse, (), (prose, highlights, proposalCount, selfReflectAvailable))
constexpr auto rules(Tag<Pulse>) {
  return std::tuple{RuleFor<&Pulse::prose>{{.about = "what self-reflect said in the last day, else a summary"}},
                    RuleFor<&Pulse::highlights>{{.about = "signals of the last day"}}};
}
const Description& describe(Tag<Pulse>) { return description_of<Pulse>("Pulse"); }

BOOST_DESCRIBE_STRUCT(ActivityQuery, (), (limit))
constexpr auto rules(Tag<ActivityQuery>) {
  return std::tuple{RuleFor<&ActivityQuery::limit>{{.about = "20 when omitted"}}};
}
const Description& describe(Tag<ActivityQuery>) { return description_of<ActivityQuery>("ActivityQuery"); }

}  // namespace agw
