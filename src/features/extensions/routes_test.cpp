#include <gtest/gtest.h>

#include "api/route.hpp"
#include "base/async/assert.hpp"
#include "features/extensions/service.hpp"
#include "testing/extensions_fixture.hpp"

namespace agw {
namespace {

using namespace testing::extensions;

/// Accepts every name.
class AllNames : public NameCheck {
public:
  Task<std::vector<ExtensionWarning>> unknown_names(ExtensionPointer) const override {
    co_return std::vector<ExtensionWarning>();
  }
};
const AllNames all_names;

/// The response of the route `method path`, with `name` as its `:id` or `:type`. An ApiError becomes the response that
/// clients would get.
Task<Response> call(ExtensionsFixture& fixture, Method method, std::string path, std::string name = "",
                    std::string body = "", std::vector<std::pair<std::string, std::string>> query = {}) {
  for (auto& route : extension_routes(fixture.extensions, all_names)) {
    if (route.method != method || route.path != path) continue;
    Request request;
    request.route = &route;
    request.segments = {path.substr(1, path.find('/', 1) - 1), name};
    request.content = body;
    request.parameters = query;
    try {
      co_return co_await route.handler(request);
    } catch (const ApiError& error) {
      co_return Response{.status = error.status(), .body = error.error()};
    }
  }
  throw InternalError("no such route: " + path);
}

constexpr auto post_body = R"({"type":"theme","name":"mine","description":"d","definition":{}})";

TEST(ExtensionRoutes, AnswerWithTheRecord) {
  with_extensions([](ExtensionsFixture& fixture) -> Task<> {
    const auto made = co_await call(fixture, Method::post, "/extensions", "", post_body);
    EXPECT_EQ(made.status, 201);
    EXPECT_EQ(made.body, to_json(*fixture.extensions.require("mine")));
    const auto id = fixture.extensions.require("mine")->id;
    EXPECT_EQ((co_await call(fixture, Method::get, "/extensions/:id", id)).body, made.body);
    const auto toggled = co_await call(fixture, Method::post, "/extensions/:id/toggle", id);
    EXPECT_EQ(toggled.status, 200);
    EXPECT_TRUE(fixture.extensions.require("mine")->enabled);
    const auto changed = co_await call(fixture, Method::patch, "/extensions/:id", id, R"({"name":"yours"})");
    EXPECT_EQ(changed.status, 200);
    EXPECT_EQ(changed.body, to_json(*fixture.extensions.require("yours")));
    const auto removed = co_await call(fixture, Method::remove, "/extensions/:id", id);
    EXPECT_EQ(removed.status, 204);
    EXPECT_EQ(removed.body, "");
  });
}

TEST(ExtensionRoutes, ListWhatTheQueryAsksFor) {
  testing::run([](Loop& loop) -> Task<> {
    const testing::ScratchDirectory directory;
    ExtensionsFixture fixture(loop, directory, Directories::followed);
    const auto list = [&](std::string name, std::string value) {
      return call(fixture, Method::get, "/extensions", "", "", {{name, value}});
    };
    EXPECT_EQ((co_await list("type", "agent")).body, "[" + to_json(*fixture.extensions.require("assistant")) + "]");
    EXPECT_EQ((co_await list("type", "thing")).body, "invalid type: thing");
    EXPECT_EQ((co_await list("source", "me")).body, "invalid source: me");
    EXPECT_EQ((co_await list("enabled", "yes")).body, "enabled must be true or false");
    EXPECT_EQ((co_await list("owner_agent_id", "nobody")).body, "[]");
  });
}

TEST(ExtensionRoutes, FindTheRecordBeforeTheyReadTheBody) {
  with_extensions([](ExtensionsFixture& fixture) -> Task<> {
    EXPECT_EQ((co_await call(fixture, Method::patch, "/extensions/:id", "nothing", "{")).body, "extension not found");
    EXPECT_EQ((co_await call(fixture, Method::patch, "/extensions/:id", "help", "{")).body, "Invalid JSON");
    EXPECT_EQ((co_await call(fixture, Method::patch, "/extensions/:id", "help", R"({"enabled":1})")).status, 400);
    EXPECT_EQ((co_await call(fixture, Method::patch, "/extensions/:id", "help", R"({"enabled":false})")).status, 403);
    EXPECT_EQ((co_await call(fixture, Method::patch, "/extensions/:id", "help", "")).body, "Request body required");
    EXPECT_EQ((co_await call(fixture, Method::patch, "/extensions/:id", "help", "{}")).status, 200);
    EXPECT_EQ((co_await call(fixture, Method::post, "/extensions")).body, "Request body required");
    EXPECT_EQ((co_await call(fixture, Method::post, "/extensions", "", "[]")).body, "Request body must be an object");
  });
}

TEST(ExtensionRoutes, CreateWhatTheDocumentsShowAsAnExample) {
  with_extensions([](ExtensionsFixture& fixture) -> Task<> {
    for (const auto& route : extension_routes(fixture.extensions, all_names)) {
      if (route.example) co_await fixture.extensions.create(*route.example);
    }
  });
}

TEST(ExtensionRoutes, ShowTheSchemas) {
  with_extensions([](ExtensionsFixture& fixture) -> Task<> {
    const auto one = co_await call(fixture, Method::get, "/schemas/:type", "job");
    EXPECT_EQ(parse_json(one.body)->at("title").as_string(), "Job");
    const auto all = co_await call(fixture, Method::get, "/schemas");
    EXPECT_EQ(parse_json(all.body)->as_object().size(), 12u);
    EXPECT_EQ(to_json(parse_json(all.body)->at("job")), one.body);
    const auto none = co_await call(fixture, Method::get, "/schemas/:type", "thing");
    EXPECT_EQ(none.status, 404);
    EXPECT_EQ(none.body, "not found");
  });
}

}  // namespace
}  // namespace agw
