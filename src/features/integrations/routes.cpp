#include "features/integrations/service.hpp"

#include <utility>

namespace agw {

namespace {

Task<Response> list_integrations(Integrations& integrations, Request& request) {
  co_return request.respond(integrations.states());
}

Task<Response> test_integration(Integrations& integrations, Request& request) {
  co_return request.respond(co_await integrations.test(integrations.require(request.path("name"))));
}

Task<Response> begin_login(Integrations& integrations, Request& request) {
  auto integration = integrations.require(request.path("name"));
  co_return request.respond(co_await integrations.begin_login(std::move(integration), request.body<NewLogin>()));
}

Task<Response> finish_login(Integrations& integrations, Request& request) {
  auto integration = integrations.require(request.path("name"));
  co_await integrations.finish_login(std::move(integration), request.body<LoginReturn>().redirected_to);
  co_return request.respond(FinishedLogin{});
}

Task<Response> forget_login(Integrations& integrations, Request& request) {
  co_await integrations.forget_login(integrations.require(request.path("name")));
  co_return Response::no_content();
}

}  // namespace

Routes integration_routes(Integrations& integrations) {
  return {
      get("/integrations", "List integrations with how they are connected, and their tools", list_integrations,
          integrations)
          .responds<std::vector<IntegrationState>>(),
      post("/integrations/:name/test", "Connect an integration again, and tell whether that works", test_integration,
           integrations)
          .responds<IntegrationState>()
          .is_about(About::integration)
          .fails_with({404, 409})
          .executes(),
      post("/integrations/:name/login", "Begin to log in at the service of an integration", begin_login, integrations)
          .body<NewLogin>()
          .responds<StartedLogin>()
          .fails_with({400, 404, 502})
          .executes(),
      post("/integrations/:name/login/finish", "Take what the service sent the person back with", finish_login,
           integrations)
          .body<LoginReturn>()
          .responds<FinishedLogin>()
          .fails_with({400, 404, 502, 507})
          .executes(),
      remove("/integrations/:name/login", "Forget a login", forget_login, integrations)
          .responds_no_content()
          .fails_with({404}),
  };
}

}  // namespace agw
