#include "server/documents/page_routes.hpp"

#include <gtest/gtest.h>

#include "server/http/router.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

constexpr PageFile example_files[] = {
    {"assets/index-1a2b.js", "script();", "brotli", "gzip", "t1"},
    {"frame.html", "<p>frame", "", "", "t2"},
    {"index.html", "<p>page", "", "", "t3"},
};

struct Browser {
  explicit Browser(std::span<const PageFile> files = example_files) : router(page_routes(files)) {}

  Response get(std::vector<std::string> segments, Fields headers = {}) {
    Request request;
    request.route = router.find("GET", segments).route;
    request.segments = std::move(segments);
    request.headers = std::move(headers);
    Response response;
    testing::run([&](Loop&) -> Task<> { response = co_await request.route->handler(request); });
    return response;
  }

  Router router;
};

std::string field(const Response& response, std::string_view name) {
  for (const auto& [key, value] : response.headers) {
    if (key == name) return value;
  }
  return {};
}

TEST(Page, IsAskedForAgainAndAnswered304WhileItIsTheSame) {
  Browser browser;
  const auto first = browser.get({"ui", ""});
  EXPECT_EQ(first.body, "<p>page");
  EXPECT_EQ(first.content_type, "text/html; charset=utf-8");
  EXPECT_EQ(field(first, "Cache-Control"), "no-cache");
  EXPECT_EQ(browser.get({"ui", ""}, {{"if-none-match", field(first, "ETag")}}).status, 304);
  EXPECT_EQ(browser.get({"ui", ""}, {{"if-none-match", "\"other\", " + field(first, "ETag")}}).status, 304);
  EXPECT_EQ(browser.get({"ui", ""}, {{"if-none-match", "W/\"t1\""}}).status, 200);
}

TEST(Page, AssetsAreKeptForEver) {
  const auto response = Browser().get({"ui", "assets", "index-1a2b.js"});
  EXPECT_EQ(response.content_type, "text/javascript; charset=utf-8");
  EXPECT_EQ(field(response, "Cache-Control"), "public, max-age=31536000, immutable");
}

TEST(Page, GoesInTheFormThatTheBrowserTakes) {
  Browser browser;
  const auto body = [&](std::string accepted) {
    return browser.get({"ui", "assets", "index-1a2b.js"}, {{"accept-encoding", std::move(accepted)}}).body;
  };
  EXPECT_EQ(body("gzip, deflate, br"), "brotli");
  EXPECT_EQ(body("gzip"), "gzip");
  EXPECT_EQ(body("br;q=0, gzip;q=0.5"), "gzip");
  EXPECT_EQ(body("br;q=0.0"), "script();");
  EXPECT_EQ(body("identity"), "script();");
  EXPECT_EQ(browser.get({"ui", ""}, {{"accept-encoding", "br"}}).body, "<p>page") << "what has no shorter form";
}

TEST(Page, IsUnpackedForClientsThatTakeNothingElse) {
  using namespace std::string_view_literals;
  // What Python's gzip.compress makes of 20 times `script();`.
  constexpr PageFile packed[] = {{"app.js", "", "",
                                  "\037\213\010\000\000\000\000\000\002\003\053\116\056\312\054\050\321\320\264\056"
                                  "\036\072\014\000\146\321\070\337\264\000\000\000"sv,
                                  "t1"}};
  std::string content;
  for (int i = 0; i < 20; ++i) content += "script();";
  EXPECT_EQ(Browser(packed).get({"ui", "app.js"}, {{"accept-encoding", "identity"}}).body, content);
}

TEST(Page, TheFrameHasAPolicyOfItsOwn) {
  Browser browser;
  EXPECT_EQ(browser.get({"ui", "frame"}).body, "<p>frame");
  EXPECT_THROW(browser.get({"ui", "frame.html"}), NotFound);
  const auto* route = browser.router.find("GET", std::vector<std::string>{"ui", "frame"}).route;
  EXPECT_TRUE(route->fields.front().second.starts_with("sandbox allow-scripts;"));
}

TEST(Page, NothingElseIsThere) {
  Browser browser;
  EXPECT_THROW(browser.get({"ui", "nothing"}), NotFound);
  EXPECT_THROW(browser.get({"ui", "assets", ""}), NotFound);
  EXPECT_THROW(browser.get({"ui", "assets", "..", "index.html"}), NotFound);
}

TEST(Page, SaysThatItIsLeftOut) {
  Browser browser({});
  const auto response = browser.get({"ui", ""});
  EXPECT_EQ(response.content_type, "text/html; charset=utf-8");
  EXPECT_NE(response.body.find("left out of this build"), std::string::npos);
  EXPECT_THROW(browser.get({"ui", "frame"}), NotFound);
}

}  // namespace
}  // namespace agw
