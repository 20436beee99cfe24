#include "features/mcp/routes.hpp"

#include <utility>

namespace agw {

Routes IntegrationRoutes::routes() {
  return {
      post("/integrations/:name/login", "Begin to log in at the service of an integration", this,
           &IntegrationRoutes::begin_login)
          .body<NewLogin>()
          .answers<StartedLogin>()
          .fails_with({400, 404, 502})
          .executes(),
      post("/integrations/:name/login/finish", "Take what the service sent the person back with", this,
           &IntegrationRoutes::finish_login)
          .body<LoginReturn>()
          .answers<FinishedLogin>()
          .fails_with({400, 404, 502, 507})
          .executes(),
      remove("/integrations/:name/login", "Forget a login", this, &IntegrationRoutes::forget_login)
          .answers_nothing()
          .fails_with({404}),
  };
}

Task<Answer> IntegrationRoutes::begin_login(Request& request) {
  auto integration = integrations_.require(request.path("name"));
  co_return Answer::of(co_await integrations_.begin_login(std::move(integration), request.body<NewLogin>()));
}

Task<Answer> IntegrationRoutes::finish_login(Request& request) {
  auto integration = integrations_.require(request.path("name"));
  co_await integrations_.finish_login(std::move(integration), request.body<LoginReturn>().redirected_to);
  co_return Answer::of(FinishedLogin{});
}

Task<Answer> IntegrationRoutes::forget_login(Request& request) {
  co_await integrations_.forget_login(integrations_.require(request.path("name")));
  co_return Answer::no_content();
}

}  // namespace agw
