#include "server/http/connection_timeouts.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr auto max_idle = 75s;
constexpr auto max_silence = 30s;  // within a head, a body or a response
constexpr auto max_head = 60s;     // for the whole head, even if bytes keep arriving
constexpr auto max_linger = 2s;

static_assert(max_silence < max_head);  // a head that trickles may take longer than one that stops
static_assert(max_linger < max_silence);

}  // namespace

void ConnectionTimeouts::enter(Phase phase) {
  phase_ = phase;
  entered_at_ = SocketStream::now();
}

void ConnectionTimeouts::await_request(bool head_begun) {
  phase_ = head_begun ? Phase::head : Phase::idle;
  entered_at_ = responded_at_;
}

bool ConnectionTimeouts::expired(TimePoint now, TimePoint last_activity) const {
  const auto silence = now - last_activity;
  const auto age = now - entered_at_;
  switch (phase_) {
    case Phase::idle:
      return age > max_idle;
    case Phase::head:
      return silence > max_silence || age > max_head;
    case Phase::body:
    case Phase::sending:
      return silence > max_silence;
    case Phase::lingering:
      return age > max_linger;
    case Phase::handling:
    case Phase::proxying:
    case Phase::websocket:
      return false;
  }
  return false;
}

}  // namespace agw
