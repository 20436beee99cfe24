#include "features/briefings/routes.hpp"

namespace agw {

Routes BriefingRoutes::routes() {
  return {
      get("/briefing", "What happened in the last day, and what stands open", this, &BriefingRoutes::briefing)
          .query<BriefingQuery>()
          .answers<Briefing>()
          .fails_with({404}),
      get("/pulse/briefing", "What self-reflect said, signals, and how many proposals wait", this,
          &BriefingRoutes::pulse)
          .answers<Pulse>(),
      get("/agents/:name/activity", "The newest turns of all threads of an agent", this, &BriefingRoutes::activity)
          .query<ActivityQuery>()
          .answers<std::vector<ActivityRow>>()
          .fails_with({400, 404}),
  };
}

Task<Answer> BriefingRoutes::briefing(Request& request) {
  co_return Answer::of(co_await briefings_.briefing(request.query<BriefingQuery>().project_id));
}

Task<Answer> BriefingRoutes::pulse(Request&) { co_return Answer::of(co_await briefings_.pulse()); }

Task<Answer> BriefingRoutes::activity(Request& request) {
  const auto agent = briefings_.require_agent(request.path("name"));
  co_return Answer::of(co_await briefings_.activity(agent, request.query<ActivityQuery>().limit));
}

}  // namespace agw
