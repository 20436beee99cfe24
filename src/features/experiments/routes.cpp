#include "features/experiments/routes.hpp"

namespace agw {

Routes ExperimentRoutes::routes() {
  return {
      get("/autoresearch/experiments", "List experiments, newest first", this, &ExperimentRoutes::list)
          .query<ExperimentFilter>()
          .answers<std::vector<Experiment>>()
          .fails_with({400}),
      get("/autoresearch/experiments/:id", "Show an experiment", this, &ExperimentRoutes::read)
          .answers<Experiment>()
          .fails_with({404}),
      get("/autoresearch/confidence", "Say how far a domain's best value stands out of the noise", this,
          &ExperimentRoutes::confidence)
          .query<ConfidenceQuery>()
          .answers<DomainConfidence>()
          .fails_with({400}),
  };
}

Task<Answer> ExperimentRoutes::list(Request& request) {
  co_return Answer::of(co_await experiments_.list(request.query<ExperimentFilter>()));
}

Task<Answer> ExperimentRoutes::read(Request& request) {
  co_return Answer::of(co_await experiments_.require(request.path("id")));
}

Task<Answer> ExperimentRoutes::confidence(Request& request) {
  co_return Answer::of(co_await experiments_.confidence(request.query<ConfidenceQuery>()));
}

}  // namespace agw
