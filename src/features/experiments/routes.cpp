#include "api/route.hpp"
#include "features/experiments/service.hpp"

namespace agw {

namespace {

Task<Response> list_experiments(Experiments& experiments, Request& request) {
  co_return request.respond(co_await experiments.list(request.query<ExperimentFilter>()));
}

Task<Response> show_experiment(Experiments& experiments, Request& request) {
  co_return request.respond(co_await experiments.require(request.path("id")));
}

Task<Response> show_confidence(Experiments& experiments, Request& request) {
  co_return request.respond(co_await experiments.confidence(request.query<ConfidenceQuery>()));
}

}  // namespace

Routes experiment_routes(Experiments& experiments) {
  return {
      get("/autoresearch/experiments", "List experiments, newest first", list_experiments, experiments)
          .query<ExperimentFilter>()
          .responds<std::vector<Experiment>>()
          .fails_with({400}),
      get("/autoresearch/experiments/:id", "Show an experiment", show_experiment, experiments)
          .responds<Experiment>()
          .fails_with({404}),
      get("/autoresearch/confidence", "Say how far a domain's best value stands out of the noise", show_confidence,
          experiments)
          .query<ConfidenceQuery>()
          .responds<DomainConfidence>()
          .fails_with({400}),
  };
}

}  // namespace agw
