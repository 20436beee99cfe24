#include "features/integrations/bearer_challenge.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

TEST(BearerChallengeTest, SaysWhereTheServiceDescribesItself) {
  const auto challenge = bearer_challenge(
      R"(Bearer error="invalid_token", resource_metadata="https://a.example/.well-known/x?y=1", scope="read  write")");
  ASSERT_TRUE(challenge);
  EXPECT_EQ(challenge->resource_metadata, "https://a.example/.well-known/x?y=1");
  EXPECT_EQ(challenge->scope, "read  write");
  EXPECT_EQ(challenge->error, "invalid_token");
}

TEST(BearerChallengeTest, IsFoundAmongOthers) {
  const auto challenge = bearer_challenge(R"(Basic realm="a, Bearer scope=x", bearer scope = one , DPoP scope="two")");
  ASSERT_TRUE(challenge);
  EXPECT_EQ(challenge->scope, "one");
  EXPECT_FALSE(bearer_challenge(R"(Basic realm="Bearer")"));
  EXPECT_FALSE(bearer_challenge(""));
}

TEST(BearerChallengeTest, QuotesMayHoldQuotes) {
  EXPECT_EQ(bearer_challenge(R"(Bearer realm="a\"b\\", scope="x")")->scope, "x");
}

TEST(BearerChallengeTest, ToleratesGarbage) {
  for (const auto* text : {"Bearer", "Bearer =", "Bearer scope=", "Bearer scope=\"", "Bearer \"\\",
                           "Bearer scope=\"x\\", ",,, ,", "Bearer @@@", "\x01\xff", "Bearer scope==x"}) {
    bearer_challenge(text);
  }
  EXPECT_EQ(bearer_challenge("Bearer scope=\"unended")->scope, "unended");
}

}  // namespace
}  // namespace agw
