#include "api/route.hpp"
#include "features/costs/service.hpp"

namespace agw {

namespace {

Task<Response> report_costs(Costs& costs, Request& request) {
  const auto query = request.query<CostQuery>();
  co_return request.respond(co_await costs.report(query.period));
}

}  // namespace

Routes cost_routes(Costs& costs) {
  return {get("/costs", "What models cost today, in the last 7 and the last 30 days", report_costs, costs)
              .query<CostQuery>()
              .responds<CostReport>()
              .fails_with({400})};
}

}  // namespace agw
