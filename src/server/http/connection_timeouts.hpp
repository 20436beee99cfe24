#pragma once

#include <chrono>

#include "server/http/socket_stream.hpp"

namespace agw {

/// Limits the time that a connection may spend in its current phase. Has no timer: the server checks it once a second.
/// Example: src/server/http/connection_timeouts_test.cpp: ConnectionTimeouts.LetABodyOrAResponseTakeLongIfBytesMove
class ConnectionTimeouts {
public:
  using TimePoint = SocketStream::TimePoint;

  enum class Phase {
    idle,       ///< between two requests
    head,       ///< part of a head, or of a TLS handshake, has arrived
    body,       ///< the handler waits for the body
    handling,   ///< unlimited: handlers have their own limits
    proxying,   ///< limited by the proxied stream
    sending,    ///< the client must take the response
    lingering,  ///< the last response was sent, and the client has not closed
    websocket,  ///< limited by pings
  };

  Phase phase() const { return phase_; }
  void enter(Phase phase);
  /// Enters `idle`, or `head` if part of it has arrived. Time since the last response counts.
  void await_request(bool head_begun);
  /// A response was made or sent at `now`.
  void responded(TimePoint now) { responded_at_ = now; }

  /// Whether the connection must end; bytes were last transferred at `last_activity`.
  bool expired(TimePoint now, TimePoint last_activity) const;

private:
  Phase phase_ = Phase::idle;
  TimePoint entered_at_ = std::chrono::steady_clock::now();
  TimePoint responded_at_ = entered_at_;
};

}  // namespace agw
