#include "server/documents/page_routes.hpp"

#include <gtest/gtest.h>

#include "io/files/gzip.hpp"
#include "server/http/router.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

/// The output of `brotli --best` for `script();`.
constexpr std::string_view script("\017\004\200script();\003", 13);

constexpr PageFile example_files[] = {
    {"assets/index-1a2b.js", "", script, 9, "t1"},
    {"frame.html", "<p>frame", "", 8, "t2"},
    {"index.html", "<p>page", "", 7, "t3"},
};

struct Browser {
  explicit Browser(std::span<const PageFile> of = example_files) : files(of) {}

  Response get(std::vector<std::string> segments, Fields headers = {}) {
    Response response;
    testing::run([&](Loop& loop) -> Task<> {
      BlockingPool blocking(loop);
      const Router router(page_routes(blocking, files));
      Request request;
      request.route = router.find("GET", segments).route;
      request.segments = std::move(segments);
      request.headers = std::move(headers);
      response = co_await request.route->handler(request);
      response.headers.insert(response.headers.end(), request.route->fields.begin(), request.route->fields.end());
    });
    return response;
  }

  std::span<const PageFile> files;
};

std::string field(const Response& response, std::string_view name) {
  for (const auto& [key, value] : response.headers) {
    if (key == name) return value;
  }
  return {};
}

TEST(Page, IsRevalidatedWith304WhileUnchanged) {
  Browser browser;
  const auto first = browser.get({"ui", ""});
  EXPECT_EQ(first.body, "<p>page");
  EXPECT_EQ(first.content_type, "text/html; charset=utf-8");
  EXPECT_EQ(field(first, "Cache-Control"), "no-cache");
  EXPECT_EQ(browser.get({"ui", ""}, {{"if-none-match", field(first, "ETag")}}).status, 304);
  EXPECT_EQ(browser.get({"ui", ""}, {{"if-none-match", "\"other\", " + field(first, "ETag")}}).status, 304);
  EXPECT_EQ(browser.get({"ui", ""}, {{"if-none-match", "W/\"t1\""}}).status, 200);
}

TEST(Page, MayUseTheMicrophoneOnlyWhereABrowserShowsIt) {
  Browser browser;
  const Fields shown{{"sec-fetch-dest", "document"}};
  const auto grants = [](const Response& response) {
    return field(response, "Permissions-Policy").find("microphone=(self)") != std::string::npos;
  };
  EXPECT_TRUE(grants(browser.get({"ui", ""}, shown)));
  EXPECT_FALSE(grants(browser.get({"ui", ""})));
  EXPECT_FALSE(grants(browser.get({"ui", ""}, {{"sec-fetch-dest", "iframe"}})));
  EXPECT_FALSE(grants(browser.get({"ui", "frame"}, shown)));
  EXPECT_FALSE(grants(browser.get({"ui", "assets", "index-1a2b.js"}, shown)));
}

TEST(Page, AssetsAreCachedForever) {
  const auto response = Browser().get({"ui", "assets", "index-1a2b.js"});
  EXPECT_EQ(response.content_type, "text/javascript; charset=utf-8");
  EXPECT_EQ(field(response, "Cache-Control"), "public, max-age=31536000, immutable");
}

TEST(Page, HasAnEncodingThatTheBrowserAccepts) {
  Browser browser;
  const auto body = [&](std::string accepted) {
    return browser.get({"ui", "assets", "index-1a2b.js"}, {{"accept-encoding", std::move(accepted)}}).body;
  };
  EXPECT_EQ(body("gzip, deflate, br"), script);
  EXPECT_EQ(body("gzip"), gzip_compressed("script();"));
  EXPECT_EQ(body("br;q=0, gzip;q=0.5"), gzip_compressed("script();"));
  EXPECT_EQ(body("br;q=0.0"), "script();");
  EXPECT_EQ(body("identity"), "script();");
  EXPECT_EQ(browser.get({"ui", ""}, {{"accept-encoding", "br"}}).body, "<p>page") << "what has no shorter form";
}

TEST(Page, TheFrameHasAPolicyOfItsOwn) {
  Browser browser;
  EXPECT_EQ(browser.get({"ui", "frame"}).body, "<p>frame");
  EXPECT_THROW(browser.get({"ui", "frame.html"}), NotFound);
  EXPECT_TRUE(field(browser.get({"ui", "frame"}), "Content-Security-Policy").starts_with("sandbox allow-scripts;"));
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
