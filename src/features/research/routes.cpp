#include "features/research/routes.hpp"

namespace agw {

Routes ResearchRoutes::routes() {
  return {
      post("/autoresearch/run", "Let an agent try to improve a file, and keep what is measurably better", this,
           &ResearchRoutes::run)
          .body<DomainConfig>()
          .answers<IterationStarted>(202)
          .executes()
          .fails_with({400, 403, 409}),
  };
}

Task<Answer> ResearchRoutes::run(Request& request) {
  co_return Answer::of(co_await research_.run(request.body_object(), request.along<IterationStarted>(202)), 202);
}

}  // namespace agw
