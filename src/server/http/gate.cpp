#include "server/http/gate.hpp"

#include <algorithm>
#include <limits>

#include <boost/algorithm/string/predicate.hpp>
#include <boost/beast/core/string.hpp>

#include "api/refusals.hpp"
#include "base/async/assert.hpp"
#include "server/http/response.hpp"

namespace agw {

namespace {

constexpr std::string_view no_pairing_on_refresh = "Pairing not available — gateway started without token";
constexpr std::string_view no_pairing = "Pairing not available";

/// Whether the path is `/ws`, `/` or `/events`, in any encoding.
bool is_socket_path(const std::vector<std::string>& segments) {
  return segments.size() == 1 && (segments[0] == "ws" || segments[0].empty() || segments[0] == "events");
}

/// HTTP/1.0 has no upgrades (RFC 9110, 7.8).
bool is_websocket_upgrade(const Head& head) {
  return head.method == "GET" && head.version == 11 && head.has_token("upgrade", "websocket");
}

/// The route at the path whose WebSocket clients can open; null if there is none.
const Route* socket_route(const Router::Match& match) {
  const auto found = std::ranges::find_if(match.at_path, [](const Route* route) { return route->socket != nullptr; });
  return found == match.at_path.end() ? nullptr : *found;
}

/// Whether a browser requests the gateway's address, because a person wants to see the page.
bool is_page_navigation(const Head& head, const Target& target) {
  return target.path == "/" && (head.method == "GET" || head.method == "HEAD") &&
         boost::icontains(head.field("accept").value_or(""), "text/html");
}

/// The token in `Authorization: Bearer <token>`; nullopt for another scheme.
std::optional<std::string_view> bearer(std::string_view authorization) {
  constexpr std::string_view scheme = "bearer ";
  if (!boost::beast::iequals(authorization.substr(0, scheme.size()), scheme)) return std::nullopt;
  return authorization.substr(scheme.size());
}

/// Same-origin requests need no CORS headers.
Response preflight(bool is_of_other_origin) {
  Response response = Response::no_content();
  if (!is_of_other_origin) return response;
  response.headers = {{"Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE"},
                      {"Access-Control-Allow-Headers",
                       "Authorization, Content-Type, Idempotency-Key, Mcp-Session-Id, MCP-Protocol-Version, "
                       "Mcp-Method, Mcp-Name, Last-Event-ID, *"},  // `*` does not include Authorization
                      {"Access-Control-Max-Age", "600"}};
  return response;
}

/// What the connection relies on: exactly one of a response, a WebSocket and a route's handler.
void assert_decided(const Admission& admission) {
  AGW_ASSERT(admission.response || admission.websocket || admission.route);
  AGW_ASSERT(!admission.response || !admission.websocket);
  if (admission.response || admission.websocket) return;
  AGW_ASSERT(admission.route->handler || admission.route->stream);
  AGW_ASSERT(admission.fields);
}

}  // namespace

std::optional<std::string_view> subprotocol_token(const Head& head) {
  const auto protocols = head.field("sec-websocket-protocol");
  if (!protocols) return std::nullopt;
  const auto comma = std::min(protocols->find(','), protocols->size());
  if (trimmed(protocols->substr(0, comma)) != "bearer") return std::nullopt;
  const auto rest = protocols->substr(std::min(comma + 1, protocols->size()));
  return trimmed(rest.substr(0, rest.find(',')));
}

Gate::Gate(const Hosts& hosts, const Router& router, const Authenticator& authenticator, std::size_t body_limit)
    : hosts_(hosts), router_(router), authenticator_(authenticator), body_limit_(body_limit) {
  AGW_ASSERT(body_limit_ > 0);
}

std::size_t Gate::body_limit_of(const Route* route) const {
  if (route && route->stream && route->forwards) return std::numeric_limits<std::size_t>::max();
  return route && route->body_limit ? route->body_limit : body_limit_;
}

Admission Gate::admit(const Head& head) const {
  auto admission = judge(head);
  if (admission.protocol != Protocol::gateway && admission.response && admission.response->status >= 400) {
    admission.response = in_protocol(std::move(*admission.response), admission.protocol);
  }
  assert_decided(admission);
  return admission;
}

Admission Gate::judge(const Head& head) const {
  Admission admission;
  admission.target = parse_target(head.target);
  admission.protocol = protocol_of(admission.target.path, head.field("anthropic-version").has_value());
  const auto match = router_.find(head.method, admission.target.segments);
  if (!match.at_path.empty()) admission.fields = &match.at_path.front()->fields;
  admission.response = host_refusal(head, admission);
  if (admission.response) return admission;
  if (head.method == "OPTIONS" && head.field("origin") && head.field("access-control-request-method")) {
    admission.response = preflight(!admission.cors_origin.empty());
    return admission;
  }
  admission.route = match.route;
  admission.body_limit = body_limit_of(match.route);
  admission.response = length_refusal(head, admission);
  if (admission.response) return admission;
  const auto* socket = socket_route(match);
  if ((socket || is_socket_path(admission.target.segments)) && is_websocket_upgrade(head)) {
    if (socket) admission.route = socket;
    admission.websocket = true;
    return admission;
  }
  if (is_page_navigation(head, admission.target)) {
    admission.response = admission.target.bad_query ? error_response(invalid_query()) : Response::redirect("/ui/");
    return admission;
  }
  admission.response = token_refusal(head, admission);
  if (admission.response) return admission;
  if (match.at_path.empty()) {
    admission.response = error_response(not_found());
  } else if (!match.route) {
    admission.response = error_response(405, "method not allowed");
    admission.response->headers.emplace_back("Allow", allowed_methods(match.at_path));
  } else if (match.route->refusal) {
    if (const auto refusal = match.route->refusal()) admission.response = error_response(*refusal);
  }
  return admission;
}

std::optional<Response> Gate::host_refusal(const Head& head, Admission& admission) const {
  const auto host = head.field("host");
  const auto& authority = admission.target.authority;
  admission.host = authority.value_or(std::string(host.value_or("")));
  // Only HTTP/1.0 may omit the host, which no browser does.
  if (authority || host) {
    if (!hosts_.allows_host(admission.host)) return error_response(403, "host not allowed");
  }
  for (const auto& [name, origin] : head.fields) {
    if (name != "origin") continue;
    if (!hosts_.allows_origin(origin, admission.host)) return error_response(403, "origin not allowed");
    if (!hosts_.same_origin(origin, admission.host)) admission.cors_origin = origin;
  }
  return std::nullopt;
}

std::optional<Response> Gate::length_refusal(const Head& head, const Admission& admission) const {
  if (head.content_length && *head.content_length > admission.body_limit) {
    return error_response(body_too_large());
  }
  return std::nullopt;
}

std::optional<Response> Gate::token_refusal(const Head& head, const Admission& admission) const {
  const auto* route = admission.route;
  if (route && route->pairing && !authenticator_.configured()) {
    return error_response(501, route->open ? no_pairing : no_pairing_on_refresh);
  }
  const bool open = route && route->open;
  const bool allowed = open || (route && route->stream ? is_authorized_for_proxy(head, admission)
                                                       : is_authorized(head, admission.protocol));
  return allowed ? std::nullopt : std::optional(error_response(unauthorized()));
}

/// Anthropic's programs send the token as an API key.
bool Gate::is_authorized(const Head& head, Protocol protocol) const {
  if (protocol == Protocol::gateway || head.count("x-api-key") != 1) return has_bearer(head);
  return authenticator_.accepts(*head.field("x-api-key")) || has_bearer(head);
}

bool Gate::has_bearer(const Head& head) const {
  if (head.count("authorization") != 1) return false;
  const auto token = bearer(*head.field("authorization"));
  return token && authenticator_.accepts(*token);
}

/// Browsers cannot add headers to a WebSocket's request, so a subprotocol or `?token=` is accepted too. If the header
/// is present, those are left to the app.
bool Gate::is_authorized_for_proxy(const Head& head, const Admission& admission) const {
  const bool has_header = head.field("authorization") || !head.has_token("upgrade", "websocket");
  return has_header ? is_authorized(head, admission.protocol) : authorizes_websocket(head, admission.target);
}

bool Gate::authorizes_websocket(const Head& head, const Target& target) const {
  bool given = false;
  bool right = true;
  const auto judge = [&](std::string_view token) {
    given = true;
    right = right && authenticator_.accepts(token);
  };
  if (head.field("authorization")) {
    given = true;
    right = has_bearer(head);
  }
  if (const auto token = subprotocol_token(head)) judge(*token);
  const auto parameter =
      std::ranges::find(target.parameters, std::string_view("token"), [](const auto& one) { return one.first; });
  if (parameter != target.parameters.end() && !parameter->second.empty()) judge(parameter->second);
  return given && right;
}

}  // namespace agw
