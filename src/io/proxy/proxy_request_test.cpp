#include "io/proxy/proxy_request.hpp"

#include <string>

#include <gmock/gmock.h>

namespace agw {

using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(ProxyRequest, ReadsATunnel) {
  const auto request = read_proxy_request("CONNECT PyPI.org:443 HTTP/1.1\r\nHost: other\r\n\r\n");
  ASSERT_TRUE(request);
  EXPECT_TRUE(request->is_tunnel);
  EXPECT_EQ(request->target.text(), "pypi.org:443");
}

TEST(ProxyRequest, ForwardsARequestForItsHostAlone) {
  const auto request = read_proxy_request(
      "GET http://deb.example.org/a?b HTTP/1.1\r\nHost: elsewhere\r\nAccept: */*\r\nProxy-Connection: keep-alive\r\n"
      "Connection: keep-alive\r\n\r\n");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->target.text(), "deb.example.org:80");
  EXPECT_THAT(request->head, StartsWith("GET /a?b HTTP/1.1\r\nHost: deb.example.org\r\n"));
  EXPECT_THAT(request->head, HasSubstr("Accept: */*\r\n"));
  EXPECT_THAT(request->head, HasSubstr("Connection: close\r\n\r\n"));
  EXPECT_THAT(request->head, Not(HasSubstr("elsewhere")));
  EXPECT_THAT(request->head, Not(HasSubstr("keep-alive")));
}

TEST(ProxyRequest, ReadsAddressesAndPorts) {
  EXPECT_EQ(to_host_port("[::FFFF:127.0.0.1]:8080", 0)->text(), "[::ffff:127.0.0.1]:8080");
  EXPECT_EQ(to_host_port("Example.org.", 80)->text(), "example.org:80");
  for (const auto* text : {"", ":80", "example.org", "a:0", "a:65536", "a:b", "a@b:1", "[::1:80", "[::1]80", "a b:1",
                           "[x]:1", "a..:1", ".a:1", "a..b:1", ".:1"}) {
    EXPECT_FALSE(to_host_port(text, 0)) << text;
  }
}

TEST(ProxyRequest, RefusesAmbiguousRequests) {
  for (const std::string head :
       {"GET /path HTTP/1.1\r\nHost: a\r\n\r\n", "GET https://a/ HTTP/1.1\r\n\r\n", "GET http://a/ HTTP/2\r\n\r\n",
        "GET http://a/ HTTP/1.1\r\nName : x\r\n\r\n", "GET http://a/ HTTP/1.1\r\nName: x\r\n folded\r\n\r\n",
        "GET http://a/ HTTP/1.1\r\nName: x\rY: z\r\n\r\n", "GET http://user:key@a/ HTTP/1.1\r\n\r\n",
        "CONNECT a HTTP/1.1\r\n\r\n", "CONNECT http://a:1 HTTP/1.1\r\n\r\n", "GET http://a/ b HTTP/1.1\r\n\r\n",
        "GET\thttp://b/ http://a/ HTTP/1.1\r\n\r\n", "GET http://a/ HTTP/1.1x\r\n\r\n", "\r\n\r\n", ""}) {
    EXPECT_THAT(read_proxy_request(head).has_value(), Eq(false)) << head;
  }
}

}  // namespace agw
