#include <algorithm>

#include <gtest/gtest.h>

#include "api/route.hpp"
#include "features/secrets/service.hpp"
#include "features/threads/service.hpp"
#include "testing/threads_fixture.hpp"

namespace agw {
namespace {

using namespace testing::threads;

/// The response as `<status> <body or error>`.
Task<std::string> call(ThreadsFixture& fixture, Method method, std::string path, std::vector<std::string> segments,
                       std::string content = {}, std::vector<std::pair<std::string, std::string>> parameters = {}) {
  const Secrets secrets("/nowhere");
  const auto routes = thread_routes(fixture.threads, secrets, fixture.blocking);
  const auto route = std::ranges::find_if(
      routes, [&](const Route& candidate) { return candidate.method == method && candidate.path == path; });
  Request request;
  request.method = method;
  request.route = &*route;
  request.segments = std::move(segments);
  request.content = std::move(content);
  request.parameters = std::move(parameters);
  std::string text;
  try {
    const auto response = co_await route->handler(request);
    text = std::to_string(response.status) + " " + response.body;
  } catch (const ApiError& error) {
    text = std::to_string(error.status()) + " " + error.error();
  }
  co_return text;
}

TEST(ThreadRoutes, ReportAnUnknownThreadBeforeOtherErrors) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    EXPECT_EQ(co_await call(fixture, Method::patch, "/threads/:id", {"threads", "x"}, "{"), "404 thread not found");
    EXPECT_EQ(co_await call(fixture, Method::post, "/threads/:id/turns", {"threads", "x", "turns"}),
              "404 thread not found");
    EXPECT_EQ(co_await call(fixture, Method::post, "/threads/:id/fork", {"threads", "x", "fork"}, R"({"turnId":1})"),
              "404 thread not found");
    EXPECT_EQ(
        co_await call(fixture, Method::get, "/threads/:id/turns", {"threads", "x", "turns"}, "", {{"limit", "0"}}),
        "404 thread not found");
  });
}

TEST(ThreadRoutes, ReportErrorsInTheBody) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto id = (co_await fixture.threads.create({})).id;
    const auto turn = [&](std::string body) {
      return call(fixture, Method::post, "/threads/:id/turns", {"threads", id, "turns"}, std::move(body));
    };
    EXPECT_EQ(co_await turn(""), "400 Request body required");
    EXPECT_EQ(co_await turn("{"), "400 Invalid JSON");
    EXPECT_EQ(co_await turn("{}"), "400 content is required");
    EXPECT_EQ(co_await turn(R"({"content":"a"})"), "400 role is required");
    EXPECT_EQ(co_await turn(R"({"content":1,"role":"user"})"), "400 content must be a string");
    EXPECT_EQ(co_await turn(R"({"content":"a","role":"admin"})"), "400 invalid role: admin");
    EXPECT_EQ(co_await turn(R"({"content":"a","role":"user","metadata":[]})"), "400 metadata must be a object");
    const auto change = [&](std::string body) {
      return call(fixture, Method::patch, "/threads/:id", {"threads", id}, std::move(body));
    };
    EXPECT_EQ(co_await change(R"({"mode":"quick"})"), "400 unknown mode: quick");
    EXPECT_EQ(co_await change(R"({"archived":"yes"})"), "400 archived must be a boolean");
  });
}

TEST(ThreadRoutes, ReportErrorsInTheQuery) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto id = (co_await fixture.threads.create({})).id;
    const auto turns = [&](std::string name, std::string value) {
      return call(fixture, Method::get, "/threads/:id/turns", {"threads", id, "turns"}, "",
                  {{std::move(name), std::move(value)}});
    };
    EXPECT_EQ(co_await turns("role", "system"), "400 invalid role: system");
    EXPECT_EQ(co_await turns("limit", "0"), "400 limit must be a positive integer");
    EXPECT_EQ(co_await turns("since", "soon"), "400 since must be an ISO 8601 timestamp");
    EXPECT_EQ(co_await turns("before", "x"), "400 before must be a turn of this thread");
    EXPECT_EQ(co_await turns("limit", "5000"), "200 []");
    EXPECT_EQ(co_await call(fixture, Method::get, "/threads", {"threads"}, "", {{"archived", "maybe"}}),
              "400 archived must be true or false");
    EXPECT_EQ(co_await call(fixture, Method::get, "/turns/search", {"turns", "search"}), "400 q is required");
    EXPECT_EQ(co_await call(fixture, Method::get, "/turns/search", {"turns", "search"}, "", {{"q", "a"}}),
              "400 agent_id is required");
  });
}

TEST(ThreadRoutes, AnswerWithTheRecordAndItsStatus) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto created = co_await call(fixture, Method::post, "/threads", {"threads"});
    EXPECT_TRUE(created.starts_with("201 {\"id\":")) << created;
    const auto thread = (co_await fixture.threads.list({})).at(0);
    const auto added = co_await call(fixture, Method::post, "/threads/:id/turns", {"threads", thread.id, "turns"},
                                     R"({"content":"apple","role":"user"})");
    EXPECT_TRUE(added.starts_with("201 {\"id\":")) << added;
    const auto found = co_await call(fixture, Method::get, "/turns/search", {"turns", "search"}, "",
                                     {{"q", "apple"}, {"agent_id", "assistant"}});
    EXPECT_TRUE(found.ends_with(R"("snippet":"apple"}])")) << found;
    EXPECT_EQ(co_await call(fixture, Method::remove, "/threads/:id", {"threads", thread.id}), "204 ");
    EXPECT_EQ(co_await call(fixture, Method::get, "/threads", {"threads"}), "200 []");
  });
}

}  // namespace
}  // namespace agw
