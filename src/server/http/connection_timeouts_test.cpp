#include "server/http/connection_timeouts.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

using namespace std::chrono_literals;
using Phase = ConnectionTimeouts::Phase;

/// Whether a connection must end that entered `phase` `age` ago and last transferred bytes `silence` ago.
bool expires(Phase phase, std::chrono::seconds age, std::chrono::seconds silence) {
  ConnectionTimeouts timeouts;
  timeouts.enter(phase);
  const auto now = SocketStream::now() + age;
  return timeouts.expired(now, now - silence);
}

TEST(ConnectionTimeouts, EndAnIdleConnectionByItsAge) {
  EXPECT_FALSE(expires(Phase::idle, 70s, 70s));
  EXPECT_TRUE(expires(Phase::idle, 80s, 0s));
}

TEST(ConnectionTimeouts, EndAHeadThatIsSilentOrTricklesForTooLong) {
  EXPECT_FALSE(expires(Phase::head, 50s, 20s));
  EXPECT_TRUE(expires(Phase::head, 40s, 40s));
  EXPECT_TRUE(expires(Phase::head, 70s, 0s));
}

TEST(ConnectionTimeouts, LetABodyOrAResponseTakeLongIfBytesMove) {
  for (const auto phase : {Phase::body, Phase::sending}) {
    EXPECT_FALSE(expires(phase, 3600s, 20s));
    EXPECT_TRUE(expires(phase, 3600s, 40s));
  }
}

TEST(ConnectionTimeouts, LeaveHandlersProxiesAndWebSocketsToTheirOwnLimits) {
  for (const auto phase : {Phase::handling, Phase::proxying, Phase::websocket}) {
    EXPECT_FALSE(expires(phase, 3600s, 3600s));
  }
}

TEST(ConnectionTimeouts, CountTheIdleTimeFromTheLastResponse) {
  ConnectionTimeouts timeouts;
  const auto now = SocketStream::now();
  timeouts.responded(now - 80s);
  timeouts.await_request(false);
  EXPECT_EQ(timeouts.phase(), Phase::idle);
  EXPECT_TRUE(timeouts.expired(now, now));
  timeouts.responded(now);
  timeouts.await_request(true);
  EXPECT_EQ(timeouts.phase(), Phase::head);
  EXPECT_FALSE(timeouts.expired(now, now));
}

}  // namespace
}  // namespace agw
