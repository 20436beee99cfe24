#include "api/route.hpp"
#include "features/briefings/service.hpp"

namespace agw {

namespace {

Task<Response> show_briefing(Briefings& briefings, Request& request) {
  co_return request.respond(co_await briefings.briefing(request.query<BriefingQuery>().project_id));
}

Task<Response> show_pulse(Briefings& briefings, Request& request) {
  co_return request.respond(co_await briefings.pulse());
}

Task<Response> list_activity(Briefings& briefings, Request& request) {
  const auto agent = briefings.require_agent(request.path("name"));
  co_return request.respond(co_await briefings.activity(agent, request.query<ActivityQuery>().limit));
}

}  // namespace

Routes briefing_routes(Briefings& briefings) {
  return {
      get("/briefing", "What happened in the last day, and what stands open", show_briefing, briefings)
          .query<BriefingQuery>()
          .responds<Briefing>()
          .fails_with({404}),
      get("/pulse/briefing", "What self-reflect said, signals, and how many proposals wait", show_pulse, briefings)
          .responds<Pulse>(),
      get("/agents/:name/activity", "The newest turns of all threads of an agent", list_activity, briefings)
          .query<ActivityQuery>()
          .responds<std::vector<ActivityRow>>()
          .fails_with({400, 404}),
  };
}

}  // namespace agw
