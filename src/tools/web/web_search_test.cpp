#include "tools/web/web_search.hpp"

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
using ::testing::Not;
using ::testing::StartsWith;

const Environment no_environment = [](const std::string&) { return std::nullopt; };

Environment with_variable(std::string name, std::string value) {
  return [=](const std::string& wanted) { return wanted == name ? std::optional(value) : std::nullopt; };
}

std::string response(std::string body) {
  return fmt::format("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}", body.size(),
                     body);
}

struct SearchFixture {
  ToolOutcome outcome;
  std::string request;
};

SearchFixture asked_of(std::string service, std::string body, Environment environment = with_variable("KEY", "hunter2"),
                       std::string query = "tea & milk") {
  SearchFixture found;
  testing::run([&](Loop& loop) -> Task<> {
    LoopbackServer server(loop, {response(body)});
    HttpClient http(loop);
    testing::ToolCaller caller;
    const auto tool = web_search_tool(
        http, web_search_service({.service = service, .base_url = server.url("/"), .api_key_env = "KEY"}, environment));
    found.outcome = co_await caller.call(tool, to_json(json::object{{"query", query}, {"limit", 2}}));
    if (server.requests() > 0) found.request = server.request(0);
    co_await server.close();
  });
  return found;
}

TEST(WebSearch, AsksBrave) {
  const auto found =
      asked_of("brave", R"({"web": {"results": [{"title": "Tea", "url": "https://tea.example/a", "description": "Hot."},
      {"title": "Milk", "url": "https://milk.example/", "description": ""}, {"title": "Third", "url": "https://c.example/"}]}})");
  EXPECT_EQ(found.outcome.output, "1. Tea\n   https://tea.example/a\n   Hot.\n2. Milk\n   https://milk.example/\n");
  EXPECT_THAT(found.request, StartsWith("GET /res/v1/web/search?q=tea%20%26%20milk&count=2 HTTP/1.1\r\n"));
  EXPECT_THAT(found.request, HasSubstr("X-Subscription-Token: hunter2\r\n"));
}

TEST(WebSearch, AsksTavily) {
  const auto found =
      asked_of("tavily", R"({"results": [{"title": "Tea", "url": "https://tea.example/a", "content": "Hot."}]})");
  EXPECT_EQ(found.outcome.output, "1. Tea\n   https://tea.example/a\n   Hot.\n");
  EXPECT_THAT(found.request, StartsWith("POST /search HTTP/1.1\r\n"));
  EXPECT_THAT(found.request, HasSubstr("Authorization: Bearer hunter2\r\n"));
  EXPECT_THAT(found.request, HasSubstr(R"({"query":"tea & milk","max_results":2})"));
}

TEST(WebSearch, AsksSearxng) {
  const auto found = asked_of("searxng", R"({"results": []})");
  EXPECT_EQ(found.outcome.output, "nothing found");
  EXPECT_THAT(found.request, StartsWith("GET /search?q=tea%20%26%20milk&format=json HTTP/1.1\r\n"));
}

TEST(WebSearch, TakesACertainNumberOfCharacters) {
  const auto with_key = with_variable("KEY", "hunter2");
  std::string query;
  for (int i = 0; i < 400; ++i) query += "茶";
  EXPECT_EQ(asked_of("searxng", R"({"results": []})", with_key, query).outcome.output, "nothing found");
  EXPECT_TRUE(asked_of("searxng", R"({"results": []})", with_key, query + "x").outcome.is_error);
}

TEST(WebSearch, SaysWhatToSet) {
  EXPECT_THAT(web_search_service({}, no_environment).problem, HasSubstr("tools.web_search.service"));
  EXPECT_THAT(web_search_service({.service = "brave"}, no_environment).problem, HasSubstr("BRAVE_API_KEY"));
  EXPECT_THAT(web_search_service({.service = "searxng"}, no_environment).problem, HasSubstr("SEARXNG_URL"));
  EXPECT_EQ(web_search_service({}, with_variable("TAVILY_API_KEY", "x")).kind, WebSearchService::Kind::tavily);
  EXPECT_EQ(web_search_service({}, with_variable("SEARXNG_URL", "http://127.0.0.1:8888")).problem, "");
  const auto found = asked_of("brave", "{}", no_environment);
  EXPECT_TRUE(found.outcome.is_error);
  EXPECT_TRUE(found.request.empty());
}

TEST(WebSearch, SaysWhyThereIsNoKey) {
  const auto without_file = web_search_service({.service = "brave", .api_key_file = "/no/such/file"}, no_environment);
  EXPECT_THAT(without_file.problem,
              StartsWith("the search service brave has no key: its api_key_file /no/such/file cannot be read. A person "
                         "puts it into that file, or changes tools.web_search.api_key_file"));
  EXPECT_THAT(without_file.problem, Not(HasSubstr("BRAVE_API_KEY")));
  EXPECT_EQ(without_file.missing_variable, "");
  const Settings::WebSearch with_key{
      .service = "searxng", .base_url = "http://127.0.0.1:1", .api_key_env = "KEY", .api_key_file = {}};
  EXPECT_THAT(web_search_service(with_key, no_environment).problem,
              StartsWith("the search service searxng has no key: the environment variable KEY is not set. "
                         "A person sets KEY in the gateway's environment, or changes tools.web_search.api_key_env"));
  EXPECT_EQ(web_search_service(with_key, no_environment).missing_variable, "KEY");
}

TEST(WebSearch, TakesNothingButResults) {
  for (const char* body : {"", "<html>", "[]", R"({"results": 1})", R"({"results": {}})"}) {
    EXPECT_TRUE(asked_of("tavily", body).outcome.is_error) << body;
  }
  const auto none = asked_of("tavily", R"~({"results": [1, {"url": "javascript:alert(1)"}, {"title": "x"}]})~");
  EXPECT_EQ(none.outcome.output, "nothing found");
}

}  // namespace
}  // namespace agw
