#include "api/route.hpp"
#include "features/research/service.hpp"

namespace agw {

namespace {

Task<Response> start_research(Research& research, Request& request) {
  co_return request.respond(co_await research.run(request.body_object(), request.in_transaction<IterationStarted>()));
}

}  // namespace

Routes research_routes(Research& research) {
  return {
      post("/autoresearch/run", "Let an agent try to improve a file, and keep what is measurably better",
           start_research, research)
          .body<DomainConfig>()
          .responds<IterationStarted>(202)
          .begins_a_run()
          .fails_with({400, 403, 409}),
  };
}

}  // namespace agw
