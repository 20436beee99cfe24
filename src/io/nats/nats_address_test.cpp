#include "io/nats/nats_address.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace agw {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string refusal_of(const std::string& urls) {
  try {
    read_nats_address(urls, "cluster.events");
  } catch (const StartError& error) {
    EXPECT_EQ(error.status(), ExitStatus::usage);
    return error.what();
  }
  return "";
}

TEST(NatsAddressTest, TakesUserAndPasswordOrAToken) {
  const auto named = read_nats_address("nats://agw:p%40ss@127.0.0.1:4300", "cluster.events");
  EXPECT_THAT(named.servers, ElementsAre("nats://127.0.0.1:4300"));
  EXPECT_EQ(named.user, "agw");
  EXPECT_EQ(named.password, "p@ss");
  EXPECT_EQ(named.name, "127.0.0.1:4300");
  EXPECT_EQ(read_nats_address("nats://secret@localhost", "cluster.events").token, "secret");
}

TEST(NatsAddressTest, TakesSeveralServers) {
  const auto address = read_nats_address("tls://agw:word@n1,tls://n2:4223", "cluster.events");
  EXPECT_THAT(address.servers, ElementsAre("tls://n1:4222", "tls://n2:4223"));
  EXPECT_EQ(address.name, "n1:4222, n2:4223");
  EXPECT_TRUE(address.is_encrypted);
  EXPECT_EQ(address.user, "agw");
}

TEST(NatsAddressTest, RequiresEncryptionOffThisHost) {
  EXPECT_THAT(refusal_of("nats://agw:word@n1:4222"),
              AllOf(HasSubstr("cluster.events: nats://n1"), HasSubstr("use tls://n1"), Not(HasSubstr("word"))));
  EXPECT_EQ(refusal_of("nats://[::1]:4222"), "");
}

TEST(NatsAddressTest, ShowsNothingOfAnAddressThatIsNone) {
  for (const auto* urls : {"db", "http://agw:hid@host", "nats://agw:h id@host", "nats://", "nats://a/b"})
    EXPECT_THAT(refusal_of(urls), AllOf(HasSubstr("must be like nats://"), Not(HasSubstr("id@")))) << urls;
}

}  // namespace
}  // namespace agw
