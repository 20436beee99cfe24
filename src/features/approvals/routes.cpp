#include "api/route.hpp"
#include "features/agents/service.hpp"
#include "features/approvals/service.hpp"

namespace agw {

namespace {

Task<Response> list_permissions(Approvals& approvals, Request& request) {
  co_return request.respond(co_await approvals.list(request.query<PermissionFilter>()));
}

Task<Response> decide_permission(Approvals& approvals, Request& request) {
  co_await approvals.require(request.path("id"));
  auto wanted = request.body<DecidePermission>();
  co_return request.respond(co_await approvals.decide(std::string(request.path("id")), std::move(wanted),
                                                      request.in_transaction<PermissionRequest>()));
}

Task<Response> list_grants(Approvals& approvals, Stages& stages, Request& request) {
  co_return request.respond(approvals.grants_of(stages.require_agent(request.path("name"))->id));
}

Task<Response> revoke_grant(Approvals& approvals, Stages& stages, Request& request) {
  co_await approvals.revoke(stages.require_agent(request.path("name"))->id, std::string(request.path("id")));
  co_return Response::no_content();
}

}  // namespace

Routes approval_routes(Approvals& approvals, Stages& stages) {
  return {
      get("/permissions", "List pending permission requests and questions, oldest first", list_permissions, approvals)
          .query<PermissionFilter>()
          .responds<std::vector<PermissionRequest>>(),
      post("/permissions/:id", "Decide a permission request, or answer a question", decide_permission, approvals)
          .body<DecidePermission>()
          .responds<PermissionRequest>()
          .fails_with({400, 404, 409, 507})
          .is_about(About::permission)
          .executes(),
      get("/agents/:name/grants", "List the grants of an agent", list_grants, approvals, stages)
          .responds<std::vector<Grant>>()
          .fails_with({400, 404}),
      remove("/agents/:name/grants/:id", "Revoke a grant of an agent", revoke_grant, approvals, stages)
          .responds_no_content()
          .fails_with({400, 404}),
  };
}

}  // namespace agw
