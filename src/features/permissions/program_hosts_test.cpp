#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "features/permissions/service.hpp"
#include "testing/extensions_fixture.hpp"

namespace agw {
namespace {

using namespace testing::extensions;
using ::testing::HasSubstr;

/// `allowed`, `private` if even a private address is allowed, or `denied`.
std::string reach(const ProgramHosts& program, const Extensions& extensions, const std::string& host) {
  const auto permission = program_permission(program, extensions, host);
  if (permission.verdict != Permission::Verdict::allowed) return "denied";
  return permission.names_host ? "private" : "allowed";
}

TEST(ProgramPermission, OfAPersonsProgramCoversAllPublicHosts) {
  with_extensions([](ExtensionsFixture& room) -> Task<> {
    const ProgramHosts program{.name = "shop", .source = Source::user};
    for (const auto* host : {"example.org:443", "localhost:5432", "10.0.0.1:80"})
      EXPECT_EQ(reach(program, room.extensions, host), "allowed") << "and the proxy refuses private addresses";
    co_return;
  });
}

TEST(ProgramPermission, IsForTheHostsThatTheDefinitionLists) {
  with_extensions([](ExtensionsFixture& room) -> Task<> {
    const ProgramHosts program{
        .name = "shop", .source = Source::user, .hosts = {{"localhost:5432", "*.example.org", "10.0.0.1"}}};
    EXPECT_EQ(reach(program, room.extensions, "localhost:5432"), "private");
    EXPECT_EQ(reach(program, room.extensions, "10.0.0.1:80"), "private");
    EXPECT_EQ(reach(program, room.extensions, "api.example.org:443"), "allowed");
    EXPECT_EQ(reach(program, room.extensions, "localhost:5433"), "denied");
    EXPECT_EQ(reach(program, room.extensions, "example.com:443"), "denied");
    EXPECT_THAT(program_permission(program, room.extensions, "example.com:443").reason,
                HasSubstr("permission denied: example.com:443 is not among the hosts that shop may reach"));
    const ProgramHosts offline{.name = "shop", .source = Source::user, .hosts = std::vector<std::string>()};
    EXPECT_EQ(reach(offline, room.extensions, "a.b:1"), "denied");
    co_return;
  });
}

TEST(ProgramPermission, OfAProgramFromElsewhereOpensNoPrivateAddress) {
  with_extensions([](ExtensionsFixture& room) -> Task<> {
    const ProgramHosts program{.name = "shop", .source = Source::community, .hosts = {{"localhost"}}};
    EXPECT_EQ(reach(program, room.extensions, "localhost:80"), "allowed");
    co_return;
  });
}

Task<> agent_with(ExtensionsFixture& room, std::string name, json::object capability) {
  json::object limits{{"type", "capability"}, {"name", name + "-limits"}, {"description", "d"}, {"enabled", true}};
  limits["definition"] = std::move(capability);
  co_await room.extensions.create(std::move(limits));
  json::object agent{{"type", "agent"}, {"name", name}, {"description", "d"}, {"enabled", true}};
  agent["definition"] = json::object{{"capabilities", json::array{name + "-limits"}}};
  co_await room.extensions.create(std::move(agent));
}

TEST(ProgramPermission, OfAnAgentsProgramIsHeldToItsOwnersCapabilities) {
  with_extensions([](ExtensionsFixture& room) -> Task<> {
    co_await agent_with(room, "bound", {{"hosts", {"pypi", "localhost:5432"}}, {"tools", json::array{"Read"}}});
    const auto made = [](std::vector<std::string> hosts) {
      return ProgramHosts{
          .name = "shop", .source = Source::agent, .owner_agent_id = "bound", .hosts = std::move(hosts)};
    };
    EXPECT_EQ(reach(made({"*"}), room.extensions, "pypi.org:443"), "allowed") << "whatever its tools are";
    EXPECT_EQ(reach(made({"*"}), room.extensions, "example.org:443"), "denied");
    EXPECT_EQ(reach(made({"localhost"}), room.extensions, "localhost:5432"), "private") << "a person named it";
    EXPECT_EQ(reach(made({"localhost"}), room.extensions, "localhost:80"), "denied");
    EXPECT_EQ(reach(made({"a.b"}), room.extensions, "pypi.org:443"), "denied");
    co_await agent_with(room, "offline", {{"scopes", {"read", "execute"}}});
    EXPECT_EQ(reach({.name = "shop", .source = Source::agent, .owner_agent_id = "offline"}, room.extensions, "a.b:1"),
              "denied");
  });
}

TEST(ProgramPermission, OfAnAgentsProgramNeedsNoOwnerThatStillExists) {
  with_extensions([](ExtensionsFixture& room) -> Task<> {
    const ProgramHosts program{
        .name = "shop", .source = Source::agent, .owner_agent_id = "gone", .hosts = {{"localhost", "a.b"}}};
    EXPECT_EQ(reach(program, room.extensions, "a.b:80"), "allowed");
    EXPECT_EQ(reach(program, room.extensions, "localhost:80"), "allowed") << "but at no private address";
    co_return;
  });
}

}  // namespace
}  // namespace agw
