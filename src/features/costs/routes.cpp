#include "features/costs/routes.hpp"

namespace agw {

Routes CostRoutes::routes() {
  return {get("/costs", "What models cost today, in the last 7 and the last 30 days", this, &CostRoutes::report)
              .query<CostQuery>()
              .answers<CostReport>()
              .fails_with({400})};
}

Task<Answer> CostRoutes::report(Request& request) {
  const auto query = request.query<CostQuery>();
  co_return Answer::of(co_await costs_.report(query.period));
}

}  // namespace agw
