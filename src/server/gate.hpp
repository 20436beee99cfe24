#pragma once

#include <optional>
#include <string>

#include "api/answer.hpp"
#include "api/authenticator.hpp"
#include "server/head.hpp"
#include "server/hosts.hpp"
#include "server/router.hpp"
#include "server/target.hpp"

namespace agw {

/// What the gate makes of a request's head.
struct Admission {
  Target target;
  const Route* route = nullptr;
  std::string host;                ///< what it was addressed to
  std::string cors_origin;         ///< the allowed origin that CORS fields must name, or empty
  const Fields* fields = nullptr;  ///< that every answer at this path carries
  bool websocket = false;          ///< an upgrade at one of the socket's paths: authorised by the socket's own rules
  std::size_t body_limit = 0;      ///< bytes that may be kept of the body
  std::optional<Answer> answer;    ///< the answer, where no handler is to be called: a refusal, or a preflight's 204
};

/// The token that a browser's page offers as the second of two subprotocols, behind `bearer`; nothing where the first
/// is another.
std::optional<std::string_view> token_of_subprotocol(const Head& head);

/// The checks between a well-formed head and a route's handler, in the decided order: host, origin, declared length,
/// pairing, token, route, the route's own refusal.
class Gate {
public:
  Gate(const Hosts& hosts, const Router& router, const Authenticator& authenticator, std::size_t body_limit);

  Admission judge(const Head& head) const;

  /// Whether a WebSocket may be opened with the credentials of this head: the bearer as Authorization, as the second of
  /// two subprotocols, or as `?token=`. One wrong credential is enough for no.
  bool authorises_socket(const Head& head, const Target& target) const;

private:
  std::optional<Answer> refuse_place(const Head& head, Admission& admission) const;
  std::optional<Answer> refuse_length(const Head& head, const Admission& admission) const;
  std::optional<Answer> refuse_caller(const Head& head, const Admission& admission) const;
  std::size_t body_limit_of(const Route* route) const;
  bool authorised(const Head& head) const;
  bool authorised_for_exchange(const Head& head, const Target& target) const;

  const Hosts& hosts_;
  const Router& router_;
  const Authenticator& authenticator_;
  std::size_t body_limit_;
};

}  // namespace agw
