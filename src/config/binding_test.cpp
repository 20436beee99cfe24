#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "config/addresses.hpp"
#include "config/settings.hpp"

namespace agw {
namespace {

Settings listening_on(const std::string& host, Auth auth) {
  Settings settings;
  settings.host = host;
  settings.auth = auth;
  return settings;
}

TEST(Binding, KnowsLoopback) {
  for (const auto* host : {"127.0.0.1", "127.1.2.3", "::1", "[::1]", "localhost", "LocalHost", "::ffff:127.0.0.1"}) {
    EXPECT_TRUE(is_loopback(host)) << host;
  }
  for (const auto* host :
       {"0.0.0.0", "::", "192.168.1.2", "example.org", "127.0.0.1.example.org", "", "::ffff:1.2.3.4"}) {
    EXPECT_FALSE(is_loopback(host)) << host;
  }
  EXPECT_FALSE(is_loopback(std::string_view("localhost\0.example.org", 22)));
}

TEST(Binding, LoopbackNeedsNoWarningAndNoToken) {
  EXPECT_EQ(check_binding(listening_on("127.0.0.1", Auth::token)), "");
  EXPECT_EQ(check_binding(listening_on("::1", Auth::none)), "");
}

TEST(Binding, BeyondLoopbackThereIsAWarning) {
  EXPECT_THAT(check_binding(listening_on("0.0.0.0", Auth::token)), ::testing::HasSubstr("0.0.0.0"));
}

TEST(Binding, BeyondLoopbackWithoutATokenIsRefused) {
  try {
    check_binding(listening_on("0.0.0.0", Auth::none));
    FAIL() << "was taken";
  } catch (const StartError& error) {
    EXPECT_EQ(error.status(), ExitStatus::usage);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("there is no token"));
  }
}

}  // namespace
}  // namespace agw
