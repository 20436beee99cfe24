#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "features/permissions/service.hpp"
#include "testing/extensions_fixture.hpp"

namespace agw {
namespace {

using namespace testing::extensions;
using ::testing::ElementsAre;
using ::testing::Optional;

const FileRoots roots{.home = "/home/ann", .data_directory = "/home/ann/.agw", .agent = "a", .project = "/home/ann/p"};

Task<ExtensionPointer> make(ExtensionsFixture& fixture, std::string type, std::string name, std::string definition,
                            bool enabled = true) {
  json::object body{{"type", type}, {"name", name}, {"description", "d"}, {"enabled", enabled}};
  body["definition"] = object(definition);
  return fixture.extensions.create(std::move(body));
}

TEST(AgentLimits, AreEmptyWithoutToolsAndCapabilities) {
  with_extensions([](ExtensionsFixture& fixture) -> Task<> {
    for (const std::string definition : {"{}", R"({"tools": null, "capabilities": []})"}) {
      const auto name = "agent-" + std::to_string(definition.size());
      const auto limits = agent_limits(*co_await make(fixture, "agent", name, definition), fixture.extensions, roots);
      EXPECT_FALSE(limits.tools || limits.scopes || limits.paths || limits.hosts || limits.stage);
    }
  });
}

TEST(AgentLimits, IntersectToolsWithTheUnionOfCapabilities) {
  with_extensions([](ExtensionsFixture& fixture) -> Task<> {
    co_await make(fixture, "capability", "reading", R"({"tools": ["Read", "Grep"], "stage": "apprentice"})");
    co_await make(
        fixture, "capability", "docs",
        R"({"tools": ["Write"], "paths": ["docs", "~/notes", "/srv"], "hosts": ["a.b"], "stage": "operator"})");
    const auto agent = co_await make(fixture, "agent", "helper",
                                     R"({"tools": ["Read", "Write", "Bash"], "capabilities": ["reading", "docs"]})");
    const auto limits = agent_limits(*agent, fixture.extensions, roots);
    EXPECT_THAT(limits.tools, Optional(ElementsAre("Read", "Write")));
    EXPECT_THAT(limits.paths, Optional(ElementsAre("/home/ann/p/docs", "/home/ann/notes", "/srv")));
    EXPECT_THAT(limits.hosts, Optional(ElementsAre("a.b")));
    EXPECT_EQ(limits.stage, Stage::operating);
  });
}

TEST(AgentLimits, ScopesOfItsCapabilitiesAddUpAndOtherNamesLimitNothing) {
  with_extensions([](ExtensionsFixture& fixture) -> Task<> {
    co_await make(fixture, "capability", "reading", R"({"scopes": ["read", "invoices"]})");
    co_await make(fixture, "capability", "calling", R"({"scopes": ["network"]})");
    co_await make(fixture, "capability", "letters", R"({"scopes": ["invoices", "Write"]})");
    co_await make(fixture, "capability", "open", R"({"scopes": []})");
    const auto both = co_await make(fixture, "agent", "both", R"({"capabilities": ["reading", "calling", "letters"]})");
    EXPECT_THAT(agent_limits(*both, fixture.extensions, roots).scopes,
                Optional(ElementsAre(ToolScope::read, ToolScope::network)));
    const auto neither = co_await make(fixture, "agent", "neither", R"({"capabilities": ["letters", "open"]})");
    EXPECT_FALSE(agent_limits(*neither, fixture.extensions, roots).scopes);
  });
}

TEST(AgentLimits, MissingAndDisabledCapabilitiesGrantNothing) {
  with_extensions([](ExtensionsFixture& fixture) -> Task<> {
    co_await make(fixture, "capability", "off", R"({"tools": ["Bash"]})", false);
    const auto agent = co_await make(fixture, "agent", "helper", R"({"capabilities": ["off", "gone"]})");
    EXPECT_THAT(agent_limits(*agent, fixture.extensions, roots).tools, Optional(ElementsAre()));
  });
}

}  // namespace
}  // namespace agw
