#include "features/apps/forwarding.hpp"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agw {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view token = "5ec4e7";

struct Asked : ProxyStream {
  std::string_view method() const override { return verb; }
  std::string_view target() const override { return path; }
  std::optional<std::uint64_t> body_length() const override { return length; }
  Task<std::optional<std::string>> read() override { co_return std::nullopt; }
  Task<> wait_for_disconnect() override { co_return; }
  Task<bool> begin(ResponseHead) override { co_return false; }
  Task<bool> send(std::string_view) override { co_return false; }
  Task<std::uint64_t> move_from(asio::ip::tcp::socket&, std::uint64_t) override { co_return 0; }
  Task<bool> end() override { co_return false; }
  Task<bool> upgrade(Fields) override { co_return false; }
  StopSource& stop_source() override { return stop; }

  std::string verb = "GET";
  std::string path = "/apps/a/proxy/";
  std::optional<std::uint64_t> length = 0;
  StopSource stop;
};

struct Forwarding : ::testing::Test {
  ForwardedRequest forward() {
    request.host = "127.0.0.1:7420";
    return forwarded_request(request, stream, "/apps/a/proxy", 5173,
                             [](std::string_view text) { return text == token; });
  }
  Request request;
  Asked stream;
};

TEST_F(Forwarding, TheTokenIsNotForwarded) {
  request.headers = {{"authorization", "Bearer 5ec4e7"}, {"referer", "http://x/?token=5ec4e7"}, {"accept", "*/*"}};
  stream.path = "/apps/a/proxy/x?a=1&token=5ec4e7&%74oken=%35ec4e7&b=2&token=own";
  request.parameters = {{"a", "1"}, {"token", "5ec4e7"}, {"token", "5ec4e7"}, {"b", "2"}, {"token", "own"}};
  const auto head = forward().head;
  EXPECT_THAT(head, HasSubstr("GET /x?a=1&b=2&token=own HTTP/1.1\r\n"));
  EXPECT_THAT(head, HasSubstr("accept: */*\r\n"));
  EXPECT_THAT(head, Not(HasSubstr("5ec4e7")));
  EXPECT_THAT(head, Not(HasSubstr("authorization")));
}

TEST_F(Forwarding, ASubprotocolOfTheAppsOwnStays) {
  request.headers = {{"upgrade", "websocket"},
                     {"connection", "Upgrade"},
                     {"sec-websocket-key", "k"},
                     {"sec-websocket-protocol", "bearer, 5ec4e7, vite-hmr"}};
  const auto forwarded = forward();
  EXPECT_TRUE(forwarded.upgrade && forwarded.offered_bearer);
  EXPECT_THAT(forwarded.head, HasSubstr("Sec-WebSocket-Protocol: vite-hmr\r\n"));
  EXPECT_THAT(forwarded.head, HasSubstr("Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n"));
  EXPECT_THAT(forwarded_fields({}, forwarded),
              ::testing::Contains(::testing::Pair("Sec-WebSocket-Protocol", "bearer")));
  EXPECT_THAT(forwarded_fields({{"Sec-WebSocket-Protocol", "vite-hmr"}}, forwarded),
              Not(::testing::Contains(::testing::Pair("Sec-WebSocket-Protocol", "bearer"))));
}

TEST_F(Forwarding, BodiesKeepTheirFraming) {
  stream.verb = "POST";
  stream.length = 7;
  EXPECT_THAT(forward().head, HasSubstr("Content-Length: 7\r\n"));
  stream.length.reset();
  const auto chunked = forward();
  EXPECT_TRUE(chunked.chunked);
  EXPECT_THAT(chunked.head, HasSubstr("Transfer-Encoding: chunked\r\n"));
}

TEST_F(Forwarding, HeadersAboutTheOriginDoNotReachTheClient) {
  const auto fields = forwarded_fields({{"Set-Cookie", "a=1"},
                                        {"Clear-Site-Data", "\"*\""},
                                        {"Connection", "X-Hop"},
                                        {"X-Hop", "1"},
                                        {"Keep-Alive", "timeout=5"},
                                        {"Content-Security-Policy", "default-src *"},
                                        {"X-Own", "1"}},
                                       {});
  EXPECT_EQ(fields, (Fields{{"Content-Security-Policy", "default-src *"}, {"X-Own", "1"}, isolation_field()}));
}

TEST_F(Forwarding, RedirectsStayInTheAppOrLeaveTheGateway) {
  request.headers = {{"host", "box:7420"}};
  stream.path = "/apps/a/proxy/in/page?q=1";
  const auto request_to_app = forward();
  const auto seen = [&](const std::string& location) {
    const auto fields = forwarded_fields({{"Location", location}}, request_to_app);
    return fields.front().first == "Location" ? fields.front().second : "none";
  };
  for (const auto* passed_on :
       {"next", "?q=2", "#part", "./next", "../next", "/apps/a/proxy", "/apps/a/proxy/next?q=%2F",
        "https://example.org/", "//example.org:1/x", "http://box:7420/apps/a/proxy/next", "http://169.254.169.254/",
        "editor://open?file=/x"}) {
    EXPECT_EQ(seen(passed_on), passed_on);
  }
  const std::map<std::string, std::string> moved = {
      {"/login?next=/a#top", "/apps/a/proxy/login?next=/a#top"},
      {"../../../../permissions/1", "/apps/a/proxy/permissions/1"},
      {"%2e%2e/%2E%2e/../../permissions/1", "/apps/a/proxy/permissions/1"},
      {"/apps/a/proxy/../../../threads", "/apps/a/proxy/threads"},
      {"/apps/a/proxyx", "/apps/a/proxy/apps/a/proxyx"},
      {"\\permissions/1", "/apps/a/proxy/permissions/1"},
      {"http:/permissions/1", "/apps/a/proxy/permissions/1"},
      {"http://BOX:7420/permissions/1", "/apps/a/proxy/permissions/1"},
      {"https://me@box:7420/permissions/1", "/apps/a/proxy/permissions/1"},
      {"//box:7420", "/apps/a/proxy/"},
      {"//box:7420//permissions/1", "/apps/a/proxy//permissions/1"},
      {"http://127.0.0.1:5173/home", "/apps/a/proxy/home"},
  };
  for (const auto& [location, expected] : moved) EXPECT_EQ(seen(location), expected) << location;
  EXPECT_EQ(seen("/per missions"), "none");
}

}  // namespace
}  // namespace agw
