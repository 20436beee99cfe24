#include "server/mcp/api_caller.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/refusals.hpp"
#include "base/async/assert.hpp"
#include "base/json/json_values.hpp"
#include "server/dispatch.hpp"
#include "server/http/failure.hpp"
#include "server/http/response.hpp"
#include "server/http/target.hpp"

namespace agw {

namespace {

bool holds_nul(const std::string& text) { return text.find('\0') != text.npos; }

Request request_of(ApiCall wanted, const Route& route) {
  Request request;
  request.method = route.method;
  request.route = &route;
  request.segments = std::move(wanted.segments);
  request.parameters = std::move(wanted.parameters);
  request.content = std::move(wanted.body);
  return request;
}

}  // namespace

Task<Response> ApiCaller::call(ApiCall wanted) const {
  AGW_ASSERT(router_);  // set by `use`
  const auto match = router_->find(wanted.method, wanted.segments);
  if (!match.route || match.route->stream) co_return error_response(not_found());
  const auto& route = *match.route;
  if (std::ranges::any_of(wanted.segments, holds_nul)) co_return error_response(BadRequest("invalid path"));
  const auto limit = route.body_limit ? route.body_limit : body_limit_;
  if (wanted.body.size() > limit) co_return error_response(body_too_large());
  const auto refusal = route.refusal ? route.refusal() : std::nullopt;
  if (refusal) co_return error_response(*refusal);
  auto response = co_await dispatched(std::move(wanted), route);
  if (route.effect != Effect::read && !hub_.pending_effects().over()) co_await hub_.pending_effects().settle();
  co_return response;
}

Task<Response> ApiCaller::dispatched(ApiCall wanted, const Route& route) const {
  const auto method = wanted.method;
  auto request = request_of(std::move(wanted), route);
  try {
    Target target;
    target.path = route.path;
    co_return co_await dispatch(request, target, idempotency_, blocking_);
  } catch (...) {
    co_return failure_response(std::current_exception(), {"mcp", method, route.path});
  }
}

Task<std::string> ApiCaller::text(ApiCall wanted) const {
  auto response = co_await call(std::move(wanted));
  if (!is_success(response)) throw ToolFailure(error_text(response), response.status);
  co_return std::move(response.body);
}

Task<json::value> ApiCaller::ask(ApiCall wanted) const {
  const auto body = co_await text(std::move(wanted));
  auto value = co_await blocking_.run_if(body.size() > large_mcp_text,
                                         [&body] { return parse_json(body, {.max_depth = max_own_json_depth}); });
  co_return value ? *std::move(value) : json::value();
}

std::string error_text(const Response& response) {
  const auto value = parse_json(response.body, {.max_depth = max_own_json_depth});
  const auto* members = value ? value->if_object() : nullptr;
  auto text = members ? string_or_empty(*members, "error") : std::string();
  if (text.empty()) return fmt::format("status {}", response.status);
  for (const auto* name : {"agent_id", "name"}) {
    if (const auto record = string_or_empty(*members, name); !record.empty()) text += ": " + record;
  }
  const auto* details = array_member(*members, "details");
  const char* before = ": ";
  for (const auto& detail : details ? *details : json::array()) {
    if (!detail.is_object()) continue;
    text += before + string_or_empty(detail.get_object(), "message");
    before = "; ";
  }
  return text;
}

}  // namespace agw
