#include "tools/web/web_fetch.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/loopback_server.hpp"
#include "testing/run.hpp"
#include "testing/tool_call.hpp"

namespace agw {
namespace {

using ::testing::HasSubstr;
using testing::LoopbackServer;
using testing::ToolCaller;

std::string response(std::string type, std::string body, std::string status = "200 OK") {
  return fmt::format("HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n\r\n{}", status, type, body.size(),
                     body);
}

struct FetchFixture {
  FetchFixture(Loop& loop, std::vector<std::string> responds)
      : server(loop, std::move(responds)), http(loop), blocking(loop) {}

  Task<ToolOutcome> fetch(std::string url, std::string more = "") {
    const auto tool = web_fetch_tool(http, blocking, {.allow_hosts = allowed, .was_named = was_named});
    co_return co_await caller.call(tool, fmt::format(R"({{"url": "{}"{}}})", url, more));
  }

  LoopbackServer server;
  HttpClient http;
  BlockingPool blocking;
  ToolCaller caller;
  std::vector<std::string> allowed{"127.0.0.1"};
  std::function<Task<bool>(const ToolRun&, const WebUrl&)> was_named{};
};

void with(std::vector<std::string> responds, std::function<Task<>(FetchFixture&)> body) {
  testing::run([&](Loop& loop) -> Task<> {
    FetchFixture fetching(loop, responds);
    co_await body(fetching);
    co_await fetching.server.close();
  });
}

TEST(WebFetch, GivesAPageAsMarkdown) {
  with({response("text/html", "<title>Tea</title><h1>Tea</h1><p>Hot <a href=/x>water</a>")},
       [](FetchFixture& f) -> Task<> {
         const auto outcome = co_await f.fetch(f.server.url("/tea"));
         EXPECT_FALSE(outcome.is_error);
         EXPECT_EQ(outcome.output,
                   fmt::format("URL: {0}/tea\nTitle: Tea\n\n# Tea\n\nHot [water]({0}/x)", f.server.url("")));
       });
}

TEST(WebFetch, GivesOtherTextAsItIs) {
  with({response("application/json", "{\"a\": \"<b>\"}")}, [](FetchFixture& f) -> Task<> {
    EXPECT_THAT((co_await f.fetch(f.server.url("/"))).output, HasSubstr("{\"a\": \"<b>\"}"));
  });
}

TEST(WebFetch, ReportsUnreadableContent) {
  with({response("application/pdf", "%PDF\xE2\xE3"), response("text/plain", "gone", "404 Not Found"),
        response("text/plain", "12345")},
       [](FetchFixture& f) -> Task<> {
         const auto binary = co_await f.fetch(f.server.url("/"));
         EXPECT_TRUE(binary.is_error);
         EXPECT_THAT(binary.output, HasSubstr("is application/pdf, which is no text"));
         const auto missing = co_await f.fetch(f.server.url("/"));
         EXPECT_TRUE(missing.is_error);
         EXPECT_THAT(missing.output, HasSubstr("answered with status 404"));
         const auto truncated = co_await f.fetch(f.server.url("/"), R"(, "max_bytes": 3)");
         EXPECT_THAT(truncated.output, HasSubstr("\n123\n\n(The rest is missing"));
         EXPECT_TRUE((co_await f.fetch("file:///etc/passwd")).is_error);
       });
}

TEST(WebFetch, RefusesPrivateAddressesUnlessTheHostIsAllowed) {
  with({response("text/plain", "secret")}, [](FetchFixture& f) -> Task<> {
    f.allowed.clear();
    const auto outcome = co_await f.fetch(f.server.url("/"));
    EXPECT_TRUE(outcome.is_error);
    EXPECT_THAT(outcome.output, HasSubstr("not one of the public internet"));
    EXPECT_EQ(f.server.connections(), 0);
    EXPECT_EQ(f.caller.judged.back().host, "127.0.0.1");
  });
}

TEST(WebFetch, AsksWhetherTheUrlWasNamedOnlyWhereThatDecides) {
  with({response("text/plain", "a"), response("text/plain", "b")}, [](FetchFixture& f) -> Task<> {
    int asked = 0;
    f.was_named = [&](const ToolRun&, const WebUrl& url) -> Task<bool> {
      ++asked;
      co_return url.target() == "/named";
    };
    f.allowed = {"other.example"};
    f.caller.authorize = [](const ToolTarget& target) {
      return target.url_was_named
                 ? Permission{}
                 : Permission{.verdict = Permission::Verdict::denied, .reason = "permission denied: no"};
    };
    EXPECT_EQ((co_await f.fetch("http://192.0.2.1/other")).output, "permission denied: no");
    EXPECT_THAT((co_await f.fetch("http://192.0.2.1/named")).output, HasSubstr("not one of the public"));
    EXPECT_EQ(asked, 2);
    f.caller.authorize = [](const ToolTarget&) { return Permission{}; };
    co_await f.fetch("http://192.0.2.1/other");
    EXPECT_EQ(asked, 2);
  });
}

TEST(WebFetch, JudgesEveryHostThatARedirectLeadsTo) {
  with({"HTTP/1.1 302 Found\r\nLocation: http://localhost:1/\r\nContent-Length: 0\r\n\r\n"},
       [](FetchFixture& f) -> Task<> {
         f.caller.authorize = [](const ToolTarget& target) {
           return target.host == "127.0.0.1"
                      ? Permission{}
                      : Permission{.verdict = Permission::Verdict::denied, .reason = "permission denied: host"};
         };
         EXPECT_EQ((co_await f.fetch(f.server.url("/"))).output, "permission denied: host");
       });
}

bool names(std::string_view text, std::string_view url) { return mentions_url(text, *WebUrl::parse(url)); }

TEST(WebFetch, KnowsWhichUrlsATextNames) {
  for (const char* text :
       {"read https://example.org/a?b=c please", "https://example.org/a?b=c", "see example.org/a?b=c.",
        "(https://example.org/a?b=c)", "[page](https://example.org/a?b=c)", "<HTTPS://EXAMPLE.org/a?b=c>",
        "it is https://example.org:443/a?b=c#part, and more", "\"https://example.org/a?b=c\"",
        "no: example.org/x yes:\nhttps://example.org/a?b=c\n", "**https://example.org/a?b=c**"}) {
    EXPECT_TRUE(names(text, "https://example.org/a?b=c")) << text;
  }
  EXPECT_TRUE(names("https://en.example.org/wiki/Tea_(drink)", "https://en.example.org/wiki/Tea_(drink)"));
  EXPECT_TRUE(names("look at example.org", "https://example.org/"));
}

TEST(WebFetch, KnowsAUrlByWhatPeopleWriteBehindIt) {
  for (const char* text :
       {"(see http://example.org/p_(x))", "[w](http://example.org/p_(x))", "[w](http://example.org/p_(x)).",
        "見http://example.org/p_(x)。", "“http://example.org/p_(x)”", "«http://example.org/p_(x)»",
        "http://example.org/p_(x)… and more", "http://example.org/p_(x)，和", "http://example.org/p_(x)—that one",
        "http://example.org/p_(x)\u00a0and", "(http://example.org/p_(x))。"}) {
    EXPECT_TRUE(names(text, "http://example.org/p_(x)")) << text;
    EXPECT_FALSE(names(text, "http://example.org/p")) << text;
    EXPECT_FALSE(names(text, "http://example.org/p_(x")) << text;
  }
  EXPECT_TRUE(names("http://example.org/é/x", "http://example.org/é/x"));
  EXPECT_FALSE(names("http://example.org/path.html", "http://example.org/path"));
  EXPECT_FALSE(names("http://example.org/p_(x)/more", "http://example.org/p_(x)"));
}

TEST(WebFetch, TakesNoOtherUrlForANamedOne) {
  for (const char* url : {"https://example.org/a?b=c&leak=secret", "https://example.org/a", "https://example.org/",
                          "https://sub.example.org/a?b=c", "https://example.org.evil.net/a?b=c",
                          "http://example.org:8080/a?b=c", "https://le.org/a?b=c", "http://example.org/a?b=c"}) {
    EXPECT_FALSE(names("read https://example.org/a?b=c please", url)) << url;
  }
  EXPECT_FALSE(names("https://example.org.evil.net/", "https://example.org/"));
  EXPECT_FALSE(names("https://evil.net/?to=https://example.org/", "https://example.org/"));
  EXPECT_FALSE(names("https://evil.net/example.org/", "https://example.org/"));
  EXPECT_FALSE(names("user@example.org", "https://example.org/"));
}

}  // namespace
}  // namespace agw
