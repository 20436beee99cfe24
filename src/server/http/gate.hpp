#pragma once

#include <optional>
#include <string>

#include "api/authenticator.hpp"
#include "api/client_errors.hpp"
#include "api/response.hpp"
#include "io/http/head.hpp"
#include "server/http/hosts.hpp"
#include "server/http/router.hpp"
#include "server/http/target.hpp"

namespace agw {

/// The gate's decision on a request's head.
struct Admission {
  Target target;
  const Route* route = nullptr;
  std::string host;                       ///< from the target or the Host field
  std::string cors_origin;                ///< the allowed origin that CORS headers must name, or empty
  const Fields* fields = nullptr;         ///< headers of all responses at this path
  bool websocket = false;                 ///< an upgrade at a WebSocket path: see `authorizes_websocket`
  std::size_t body_limit = 0;             ///< in bytes
  Protocol protocol = Protocol::gateway;  ///< the protocol whose format errors have
  std::optional<Response> response;       ///< if no handler is called: an error, or the 204 to a preflight
};

/// The token that a web page passes as the second subprotocol, if the first is `bearer`; else nullopt.
std::optional<std::string_view> subprotocol_token(const Head& head);

/// The checks between a well-formed head and a route's handler, in the order of the specification: host, origin,
/// declared length, pairing, token, route, the route's own refusal.
class Gate {
public:
  Gate(const Hosts& hosts, const Router& router, const Authenticator& authenticator, std::size_t body_limit);

  Admission admit(const Head& head) const;

  /// Whether the request may open a WebSocket: it passes the token in Authorization, as the second of two subprotocols,
  /// or as `?token=`. If it has several of them, all must be valid.
  bool authorizes_websocket(const Head& head, const Target& target) const;

private:
  std::optional<Response> host_refusal(const Head& head, Admission& admission) const;
  std::optional<Response> length_refusal(const Head& head, const Admission& admission) const;
  std::optional<Response> token_refusal(const Head& head, const Admission& admission) const;
  std::size_t body_limit_of(const Route* route) const;
  bool is_authorized(const Head& head, Protocol protocol) const;
  bool has_bearer(const Head& head) const;
  bool is_authorized_for_proxy(const Head& head, const Admission& admission) const;
  Admission judge(const Head& head) const;

  const Hosts& hosts_;
  const Router& router_;
  const Authenticator& authenticator_;
  std::size_t body_limit_;
};

}  // namespace agw
