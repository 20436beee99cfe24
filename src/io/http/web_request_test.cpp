#include "io/http/web_request.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/loopback_server.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using testing::LoopbackServer;

std::string response(std::string body) {
  return fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", body.size(), body);
}
std::string redirect(std::string location) {
  return fmt::format("HTTP/1.1 302 Found\r\nLocation: {}\r\nContent-Length: 0\r\n\r\n", location);
}

bool anywhere(const WebUrl&) { return true; }
bool only_loopback_v4(const WebUrl& url) { return url.host() == "127.0.0.1"; }

WebRequest to(const std::string& url, std::function<bool(const WebUrl&)> may_be_private = anywhere) {
  return {.url = *WebUrl::parse(url), .may_be_private = std::move(may_be_private)};
}

/// Runs a test with a server that sends these responses.
void with_server(std::vector<std::string> responds,
                 std::function<Task<>(LoopbackServer&, HttpClient&, StopSource&)> body) {
  testing::run([&](Loop& loop) -> Task<> {
    LoopbackServer server(loop, responds);
    HttpClient http(loop);
    StopSource stop;
    co_await body(server, http, stop);
    co_await server.close();
  });
}

TEST(WebRequest, ReachesNoPrivateAddress) {
  with_server({response("secret")}, [](LoopbackServer& server, HttpClient& http, StopSource& stop) -> Task<> {
    const auto port = server.url("").substr(server.url("").rfind(':'));
    for (const std::string host : {"127.0.0.1", "localhost", "127.1", "0x7f000001", "2130706433", "0", "[::1]",
                                   "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::]"}) {
      const auto found = co_await send_web_request(http, to("http://" + host + port + "/", nullptr), stop);
      EXPECT_THAT(found.problem, HasSubstr("cannot be reached")) << host;
      EXPECT_TRUE(found.body.empty()) << host;
    }
    EXPECT_EQ(server.connections(), 0);
  });
}

TEST(WebRequest, ReusesNoConnectionThatAnotherCallerMayOpen) {
  with_server({response("for a provider"), response("secret")},
              [](LoopbackServer& server, HttpClient& http, StopSource& stop) -> Task<> {
                const auto first = co_await send_web_request(http, to(server.url("/")), stop);
                EXPECT_EQ(first.body, "for a provider");
                const auto second = co_await send_web_request(http, to(server.url("/"), nullptr), stop);
                EXPECT_THAT(second.problem, HasSubstr("127.0.0.1, which is not one of the public internet"));
                EXPECT_EQ(server.requests(), 1u);
              });
}

TEST(WebRequest, DoesNotBypassTheChecksThroughAProxy) {
  with_server({response("through the proxy")},
              [](LoopbackServer& server, HttpClient& http, StopSource& stop) -> Task<> {
                ::setenv("http_proxy", server.url("").c_str(), 1);
                const auto found = co_await send_web_request(http, to("http://10.255.255.1/", nullptr), stop);
                ::unsetenv("http_proxy");
                EXPECT_THAT(found.problem, HasSubstr("10.255.255.1"));
                EXPECT_EQ(server.connections(), 0);
              });
}

TEST(WebRequest, IsCheckedAtEveryRedirect) {
  for (const std::string target : {"http://169.254.169.254/latest/meta-data/", "http://localhost:1/", "http://[::1]:1/",
                                   "//[::ffff:169.254.169.254]/", "http://10.0.0.1/"}) {
    with_server({redirect("/next"), redirect(target)},
                [](LoopbackServer& server, HttpClient& http, StopSource& stop) -> Task<> {
                  const auto found = co_await send_web_request(http, to(server.url("/"), only_loopback_v4), stop);
                  EXPECT_THAT(found.problem, HasSubstr("not one of the public internet"));
                  EXPECT_EQ(server.requests(), 2u);
                });
  }
}

TEST(WebRequest, FollowsRedirectsUpToABound) {
  with_server({redirect("/b"), response("there")},
              [](LoopbackServer& server, HttpClient& http, StopSource& stop) -> Task<> {
                const auto found = co_await send_web_request(http, to(server.url("/a")), stop);
                EXPECT_EQ(found.problem, "");
                EXPECT_EQ(found.body, "there");
                EXPECT_EQ(found.url.text(), server.url("/b"));
              });
  with_server(std::vector(20, redirect("/again")),
              [](LoopbackServer& server, HttpClient& http, StopSource& stop) -> Task<> {
                const auto found = co_await send_web_request(http, to(server.url("/a")), stop);
                EXPECT_EQ(found.problem, "more than 10 redirects");
                EXPECT_EQ(server.requests(), 11u);
              });
}

TEST(WebRequest, FollowsNoRedirectToAnotherScheme) {
  with_server({redirect("file:///etc/passwd")},
              [](LoopbackServer& server, HttpClient& http, StopSource& stop) -> Task<> {
                const auto found = co_await send_web_request(http, to(server.url("/")), stop);
                EXPECT_THAT(found.problem, HasSubstr("no http or https address"));
              });
}

TEST(WebRequest, SendsCredentialsToTheirOwnOriginOnly) {
  testing::run([](Loop& loop) -> Task<> {
    LoopbackServer other(loop, {response("there")});
    LoopbackServer server(loop, {redirect(other.url("/"))});
    HttpClient http(loop);
    StopSource stop;
    auto request = to(server.url("/"));
    request.headers = {{"X-Plain", "1"}};
    request.origin_headers = {{"X-Key", "hunter2"}};
    const auto found = co_await send_web_request(http, request, stop);
    EXPECT_EQ(found.body, "there");
    EXPECT_THAT(server.request(0), HasSubstr("hunter2"));
    EXPECT_THAT(other.request(0), ::testing::Not(HasSubstr("hunter2")));
    EXPECT_THAT(other.request(0), HasSubstr("X-Plain: 1"));
    co_await server.close();
    co_await other.close();
  });
}

TEST(WebRequest, IsRefusedByItsCallerBeforeItConnects) {
  with_server({redirect("/b"), response("there")},
              [](LoopbackServer& server, HttpClient& http, StopSource& stop) -> Task<> {
                auto request = to(server.url("/a"));
                request.refusal = [](const WebUrl& url) { return url.target() == "/b" ? "not that one" : ""; };
                const auto found = co_await send_web_request(http, request, stop);
                EXPECT_EQ(found.problem, "not that one");
                EXPECT_EQ(server.requests(), 1u);
              });
}

TEST(WebRequest, IsBoundedInSizeAndTime) {
  with_server({response(std::string(5000, 'x')), response(std::string(5000, 'x'))},
              [](LoopbackServer& server, HttpClient& http, StopSource& stop) -> Task<> {
                auto request = to(server.url("/"));
                request.max_body_bytes = 1000;
                EXPECT_THAT((co_await send_web_request(http, request, stop)).problem, HasSubstr("over 1000 bytes"));
                request.truncate_body = true;
                const auto found = co_await send_web_request(http, request, stop);
                EXPECT_EQ(found.body.size(), 1000u);
                EXPECT_TRUE(found.truncated);
              });
  testing::run([](Loop& loop) -> Task<> {
    LoopbackServer server(loop, {"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nbegin"}, LoopbackServer::After::wait);
    HttpClient http(loop);
    StopSource stop;
    auto request = to(server.url("/"));
    request.limit = 1s;
    EXPECT_THAT((co_await send_web_request(http, request, stop)).problem, HasSubstr("did not answer within"));
    co_await server.closed_by_client();
    co_await server.close();
  });
}

}  // namespace
}  // namespace agw
