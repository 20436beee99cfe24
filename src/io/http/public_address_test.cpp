#include "io/http/public_address.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

bool is_public(const char* text) { return is_public_address(boost::asio::ip::make_address(text)); }

TEST(PublicAddress, IsOneOfTheInternet) {
  for (const char* address : {"1.1.1.1", "8.8.8.8", "93.184.216.34", "100.63.255.255", "100.128.0.0", "172.15.255.255",
                              "172.32.0.0", "169.253.255.255", "192.167.1.1", "223.255.255.255", "2606:4700::1111",
                              "2a00:1450::1", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"}) {
    EXPECT_TRUE(is_public(address)) << address;
  }
}

TEST(PublicAddress, IsNoneOfThisHostAndItsNetworks) {
  for (const char* address :
       {"0.0.0.0",         "0.1.2.3",     "10.0.0.1",        "10.255.255.255",  "100.64.0.1", "100.100.100.200",
        "100.127.255.255", "127.0.0.1",   "127.255.255.254", "169.254.169.254", "172.16.0.1", "172.31.255.255",
        "192.0.0.192",     "192.0.2.1",   "192.88.99.1",     "192.168.1.1",     "198.18.0.1", "198.19.255.255",
        "198.51.100.1",    "203.0.113.1", "224.0.0.1",       "239.255.255.255", "240.0.0.1",  "255.255.255.255"}) {
    EXPECT_FALSE(is_public(address)) << address;
  }
}

TEST(PublicAddress, IsNoIPv6AddressThatStandsForAPrivateOne) {
  for (const char* address : {"::",
                              "::1",
                              "fe80::1",
                              "febf::1",
                              "fc00::1",
                              "fd12:3456::1",
                              "fec0::1",
                              "ff02::1",
                              "::ffff:127.0.0.1",
                              "::ffff:169.254.169.254",
                              "::ffff:10.0.0.1",
                              "::127.0.0.1",
                              "64:ff9b::7f00:1",
                              "64:ff9b::a9fe:a9fe",
                              "64:ff9b:1::808:808",
                              "64:ff9b::1:808:808",
                              "2002:7f00:1::",
                              "2002:a00:1::1",
                              "2001:db8::1",
                              "2001::1",
                              "2001:1ff:ffff::1",
                              "3fff::1",
                              "100::1",
                              "5f00::1"}) {
    EXPECT_FALSE(is_public(address)) << address;
  }
}

TEST(NumericAddress, HasEveryFormThatResolversAccept) {
  const auto text = [](const std::string& host) {
    const auto address = numeric_address(host);
    return address ? address->to_string() : "a name";
  };
  for (const char* host : {"127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0X7F.1"})
    EXPECT_EQ(text(host), "127.0.0.1") << host;
  EXPECT_EQ(text("fe80::1"), "fe80::1");
  for (const char* host : {"", ".", "example.org", "127.0.0.1.example.org", "256.0.0.1", "127.0.0.1 example.org"})
    EXPECT_EQ(text(host), "a name") << host;
}

}  // namespace
}  // namespace agw
