#include "server/http/hosts.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

TEST(Hosts, OnLoopbackOnlyLoopbackNamesAndConfiguredOnesAddressTheGateway) {
  const Hosts hosts({.port = 7420, .hosts = {"gateway.home"}});
  for (const auto* host : {"localhost", "LOCALHOST:7420", "127.0.0.1:7420", "127.1.2.3", "[::1]:7420",
                           "gateway.home:80", "localhost.:7420"}) {
    EXPECT_TRUE(hosts.allows_host(host)) << host;
  }
  for (const auto* host : {"evil.example", "localhost.evil.example", "192.168.1.2:7420", "", "[::2]", "127.0.0.1.evil",
                           "0.0.0.0", "[::1", "localhost:port", "127.0.0.1:1:2", "localhost..", "."}) {
    EXPECT_FALSE(hosts.allows_host(host)) << host;
  }
}

TEST(Hosts, LoopbackIsLoopbackHoweverItIsWritten) {
  const Hosts hosts({.bound_host = "::ffff:127.0.0.1", .port = 7420});
  EXPECT_TRUE(hosts.allows_host("localhost:7420"));
  EXPECT_TRUE(hosts.allows_host("[::ffff:127.0.0.1]:7420"));
  EXPECT_FALSE(hosts.allows_host("10.0.0.1"));
}

TEST(Hosts, BeyondLoopbackAnAddressOrAConfiguredNameDoes) {
  const Hosts hosts({.bound_host = "0.0.0.0", .port = 7420, .hosts = {"gateway.home"}});
  EXPECT_TRUE(hosts.allows_host("192.168.1.2:7420"));
  EXPECT_TRUE(hosts.allows_host("gateway.home"));
  EXPECT_FALSE(hosts.allows_host("evil.example"));
}

TEST(Hosts, AConfiguredNameMayEndWithADot) {
  const Hosts hosts({.bound_host = "0.0.0.0", .port = 7420, .hosts = {"Gateway.home."}});
  for (const auto* host : {"gateway.home", "gateway.home.", "gateway.home:7420", "gateway.home.:7420"}) {
    EXPECT_TRUE(hosts.allows_host(host)) << host;
  }
  EXPECT_FALSE(hosts.allows_host("."));
}

TEST(Hosts, AnOriginMustBeTheGatewaysOwnOrConfigured) {
  const Hosts hosts({.port = 7420, .origins = {"https://app.example"}});
  for (const auto* origin : {"http://localhost:7420", "http://localhost.:7420", "http://127.0.0.1:7420",
                             "http://[::1]:7420", "https://app.example"}) {
    EXPECT_TRUE(hosts.allows_origin(origin, "127.0.0.1:7420")) << origin;
  }
  for (const auto* origin : {"null", "", "http://localhost:7421", "https://localhost:7420", "http://evil.example",
                             "http://localhost:7420.evil.example", "file://", "http://127.0.0.1"}) {
    EXPECT_FALSE(hosts.allows_origin(origin, "127.0.0.1:7420")) << origin;
  }
  EXPECT_TRUE(hosts.same_origin("http://localhost:7420", "localhost:7420"));
  EXPECT_FALSE(hosts.same_origin("http://localhost:7420", "127.0.0.1:7420"));
}

TEST(Hosts, TheOwnOriginIsNamedWithoutTheSchemesOwnPort) {
  const Hosts plain({.port = 80});
  const Hosts encrypted({.port = 443, .tls = true});
  for (const std::string name : {"localhost", "127.0.0.1", "[::1]"}) {
    EXPECT_TRUE(plain.allows_origin("http://" + name, name));
    EXPECT_TRUE(encrypted.allows_origin("https://" + name, name));
    EXPECT_FALSE(plain.allows_origin("https://" + name, name));
    EXPECT_FALSE(plain.allows_origin("http://" + name + ":443", name));
    EXPECT_FALSE(encrypted.allows_origin("https://" + name + ":80", name));
  }
}

TEST(Hosts, TheBoundAddressIsAnOwnOrigin) {
  const Hosts hosts({.bound_host = "127.0.0.2", .port = 7420});
  EXPECT_TRUE(hosts.allows_origin("http://127.0.0.2:7420", "127.0.0.2:7420"));
  EXPECT_FALSE(hosts.allows_origin("http://127.0.0.3:7420", "127.0.0.3:7420"));
}

TEST(Hosts, TheSchemeIsThatOfThePublicUrlForThoseWhoCameByIt) {
  const Hosts hosts({.port = 7420, .hosts = {"pub.example"}, .public_url = "https://Pub.example/"});
  EXPECT_EQ(hosts.scheme_of("pub.example"), "https://");
  EXPECT_EQ(hosts.scheme_of("pub.example:7420"), "http://");
  EXPECT_EQ(hosts.scheme_of("127.0.0.1:7420"), "http://");
  EXPECT_EQ(Hosts({.port = 7420, .tls = true}).scheme_of(""), "https://");
}

TEST(Hosts, ThePublicUrlIsKnownHoweverItIsWritten) {
  for (const auto* url : {"https://pub.example:443", "https://pub.example?from=home", "HTTPS://PUB.example#top"}) {
    const Hosts hosts({.port = 7420, .hosts = {"pub.example"}, .public_url = url});
    EXPECT_EQ(hosts.scheme_of("pub.example"), "https://") << url;
    EXPECT_EQ(hosts.scheme_of("Pub.example:443"), "https://") << url;
    EXPECT_EQ(hosts.scheme_of("pub.example:80"), "http://") << url;
  }
  const Hosts encrypted({.port = 7420, .tls = true, .public_url = "http://pub.example:80/"});
  EXPECT_EQ(encrypted.scheme_of("pub.example"), "http://");
  EXPECT_EQ(Hosts({.port = 7420, .public_url = "https://[::1]:443"}).scheme_of("[::1]"), "https://");
}

}  // namespace
}  // namespace agw
