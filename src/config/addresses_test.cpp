#include "config/addresses.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

TEST(Addresses, AWebAddressHasASchemeAHostAndAValidPort) {
  for (const auto* good : {"http://a", "https://a.example:8443/v1", "http://[::1]:8000", "https://u:p@a/b?c#d",
                           "http://127.0.0.1:65535", "https://bücher.example"}) {
    EXPECT_TRUE(is_web_address(good)) << good;
  }
  for (const auto* bad : {"", "a", "a:80", "ftp://a", "http://", "http:///v1", "http://:80", "http://a:", "http://a:0",
                          "http://a:65536", "http://a:b", "http://a b", "http://[::1", "https://?x"}) {
    EXPECT_FALSE(is_web_address(bad)) << bad;
  }
}

TEST(Addresses, AHostNameIsOneThatClientsSend) {
  for (const auto* good : {"a", "gateway.example.org", "a_b-c", "a.example.", "127.0.0.1", "::1", "fe80::1"}) {
    EXPECT_TRUE(is_host_name(good)) << good;
  }
  for (const auto* bad : {"", ".", "a..b", ".a", "*", "*.example.org", "a:80", "http://a", "a/b", "a b", "a,b", "a@b",
                          "a?b", "bücher.example", "%41", "[a]", "[::1]", "[::1"}) {
    EXPECT_FALSE(is_host_name(bad)) << bad;
  }
}

TEST(Addresses, AnOriginIsOneThatBrowsersSend) {
  for (const auto* good : {"https://a", "HTTPS://A.example", "http://a:8080", "https://a:80", "https://[::1]:1",
                           "chrome-extension://abcdef", "capacitor://localhost"}) {
    EXPECT_TRUE(is_origin(good)) << good;
  }
  for (const auto* bad : {"", "null", "*", "a", "https://", "https://a/", "https://a:443", "http://a:80",
                          "HTTPS://a:443", "https://a:x", "https://a:", "https://:80", "https://u@a", "https://a?b",
                          "https://a#b", "https://*", "https://a,https://b", "https://::1", "://a"}) {
    EXPECT_FALSE(is_origin(bad)) << bad;
  }
}

}  // namespace
}  // namespace agw
