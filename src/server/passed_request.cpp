#include "server/passed_request.hpp"

#include <exception>
#include <utility>

#include "api/refusals.hpp"
#include "api/route.hpp"
#include "server/dispatch.hpp"
#include "server/http/failure.hpp"
#include "server/http/response.hpp"

namespace agw {

Task<Response> answer_passed(PassedRequest passed, PassedRequestServices services) {
  Request request;
  request.segments = std::move(passed.segments);
  const auto* route = services.router.find(passed.method, request.segments).route;
  if (!route || !route->handler) co_return error_response(not_found());  // a route of a newer release
  request.method = route->method;
  request.route = route;
  request.parameters = std::move(passed.parameters);
  request.headers = std::move(passed.headers);
  request.content = std::move(passed.content);
  request.host = std::move(passed.host);
  const Target target{.path = passed.path};
  Response response;
  try {
    response = co_await dispatch(request, target, services.idempotency, services.blocking);
  } catch (...) {
    response = failure_response(std::current_exception(), {"of another node", passed.method, passed.path});
  }
  if (route->effect != Effect::read && !services.hub.pending_effects().over())
    co_await services.hub.pending_effects().settle();
  co_return response;
}

}  // namespace agw
