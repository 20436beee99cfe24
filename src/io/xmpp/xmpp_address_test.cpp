#include "io/xmpp/xmpp_address.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

TEST(XmppServer, IsSchemeHostAndPort) {
  EXPECT_EQ(parse_xmpp_server("xmpp://example.org"), (XmppServer{"example.org", 5222, false}));
  EXPECT_EQ(parse_xmpp_server("xmpps://example.org"), (XmppServer{"example.org", 5223, true}));
  EXPECT_EQ(parse_xmpp_server("xmpp://127.0.0.1:5999"), (XmppServer{"127.0.0.1", 5999, false}));
  EXPECT_EQ(parse_xmpp_server("xmpp://[::1]:5999"), (XmppServer{"::1", 5999, false}));
  EXPECT_EQ(parse_xmpp_server("xmpps://[::1]"), (XmppServer{"::1", 5223, true}));
  for (const auto* wrong : {"", "example.org", "https://example.org", "xmpp://", "xmpp://:5222", "xmpp://example.org:",
                            "xmpp://example.org:0", "xmpp://example.org:65536", "xmpp://example.org/path",
                            "xmpp://ann@example.org", "xmpp://[::1", "xmpp://[::1]x", "xmpp://[example.org]"}) {
    EXPECT_FALSE(parse_xmpp_server(wrong)) << wrong;
  }
}

TEST(LoopbackHost, IsWhatIsWrittenAsOne) {
  for (const auto* host : {"localhost", "127.0.0.1", "127.1.2.3", "::1"}) EXPECT_TRUE(is_loopback_host(host)) << host;
  for (const auto* host : {"example.org", "localhost.example.org", "0.0.0.0", "10.0.0.1", ""}) {
    EXPECT_FALSE(is_loopback_host(host)) << host;
  }
}

TEST(XmppAccount, IsTheAddressWithoutItsResource) {
  EXPECT_EQ(xmpp_account("ann@example.org"), "ann@example.org");
  EXPECT_EQ(xmpp_account("Ann@Example.org/Phone @home"), "ann@example.org");
  for (const auto* wrong : {"", "example.org", "@example.org", "ann@", "ann@ex@ample.org", "a nn@example.org",
                            "ann@example.org\n", "<ann>@example.org", "xmpp:ann@example.org"}) {
    EXPECT_FALSE(xmpp_account(wrong)) << wrong;
  }
}

TEST(XmppAccount, HasADomainAndAResource) {
  EXPECT_EQ(xmpp_resource("team@rooms.example.org/Ann/1"), "Ann/1");
  EXPECT_EQ(xmpp_resource("ann@example.org"), "");
  EXPECT_EQ(without_resource("team@rooms.example.org/Ann/1"), "team@rooms.example.org");
  EXPECT_EQ(xmpp_domain("ann@example.org"), "example.org");
}

}  // namespace
}  // namespace agw
