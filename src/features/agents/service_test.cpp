#include "features/agents/service.hpp"

#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "base/async/task_group.hpp"
#include "testing/extensions_fixture.hpp"

namespace agw {
namespace {

namespace fs = std::filesystem;
using namespace testing::extensions;
using Names = std::vector<std::string>;

/// Agents and extensions in one data directory.
struct AgentFixture : ExtensionsFixture {
  AgentFixture(Loop& loop, const testing::ScratchDirectory& directory)
      : ExtensionsFixture(loop, directory, Directories::followed),
        data(directory.path()),
        identities(data, extensions),
        stages(database, clock, extensions) {}

  Task<ExtensionPointer> make_agent(std::string name) {
    json::object body{{"type", "agent"}, {"name", name}, {"description", "d"}, {"definition", json::object{}}};
    return extensions.create(std::move(body));
  }
  void put(const fs::path& file, const std::string& content) {
    fs::create_directories((data / file).parent_path());
    std::ofstream(data / file) << content;
  }
  std::string get(const fs::path& file) {
    std::ifstream in(data / file);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  fs::path data;
  Identities identities;
  Stages stages;
};

void with_agent_fixture(std::function<Task<>(AgentFixture&)> body) {
  testing::run([&](Loop& loop) -> Task<> {
    const testing::ScratchDirectory directory;
    AgentFixture fixture(loop, directory);
    co_await body(fixture);
  });
}

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const ApiError& error) {
    return std::to_string(error.status()) + " " + error.error();
  }
  return "none";
}

TEST(AgentNames, AreSafeNamesOfDirectories) {
  for (const std::string name : {"assistant", "A b", "x.y", "ä", "a-z"}) {
    EXPECT_EQ(refusal([&] { check_agent_name(name); }), "none") << name;
  }
  for (const std::string& name :
       Names{"", ".", "..", "a..b", "a/b", "a\\b", ".hidden", "a\nb", "a\x7f", "a\x01", std::string(129, 'x')}) {
    EXPECT_EQ(refusal([&] { check_agent_name(name); }), "400 invalid agent name") << name;
  }
}

TEST(Identities, AreEmptyWithoutFiles) {
  with_agent_fixture([](AgentFixture& fixture) -> Task<> {
    EXPECT_EQ(co_await fixture.identities.read(IdentityFile::soul, std::nullopt), "");
    EXPECT_EQ(co_await fixture.identities.read(IdentityFile::user_profile, "nobody"), "");
  });
}

TEST(Identities, AreKeptPrivateWhereTheSpecificationSays) {
  with_agent_fixture([](AgentFixture& fixture) -> Task<> {
    co_await fixture.identities.write(IdentityFile::soul, std::nullopt, "base");
    co_await fixture.identities.write(IdentityFile::soul, "helper", "own");
    co_await fixture.identities.write(IdentityFile::user_profile, std::nullopt, "shared");
    co_await fixture.identities.write(IdentityFile::user_profile, "helper", "override");
    EXPECT_EQ(fixture.get("soul.md"), "base");
    EXPECT_EQ(fixture.get("agents/helper/soul.md"), "own");
    EXPECT_EQ(fixture.get("user-profile.md"), "shared");
    EXPECT_EQ(fixture.get("agents/helper/user-profile.md"), "override");
    EXPECT_EQ(fs::status(fixture.data / "agents/helper/soul.md").permissions(),
              fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_EQ(fs::status(fixture.data / "agents/helper").permissions(), fs::perms::owner_all);
  });
}

TEST(Identities, OfAnAgentAreAddressedByItsIdToo) {
  with_agent_fixture([](AgentFixture& fixture) -> Task<> {
    const auto agent = co_await fixture.make_agent("helper");
    EXPECT_EQ(fixture.identities.directory_name(agent->id), "helper");
    EXPECT_EQ(fixture.identities.directory_name("helper"), "helper");
    EXPECT_EQ(fixture.identities.directory_name("somebody else"), "somebody else");
  });
}

/// Renames many times; each rename is published before the directory is moved.
TEST(Identities, AreThoseOfTheAgentWhileItIsRenamed) {
  with_agent_fixture([](AgentFixture& fixture) -> Task<> {
    const auto id = (co_await fixture.make_agent("helper-0"))->id;
    TaskGroup renaming(static_cast<Loop&>((co_await asio::this_coro::executor).context()));
    std::string soul;
    for (int i = 1; i < 50; ++i) {
      renaming.spawn(rename(fixture.extensions, id, "helper-" + std::to_string(i)));
      do {
        EXPECT_EQ((co_await fixture.identities.of(id)).agent_soul, soul);
        EXPECT_EQ(co_await fixture.identities.read(IdentityFile::soul, id), soul);
        soul += 'x';
        co_await fixture.identities.write(IdentityFile::soul, id, soul);
      } while (renaming.size() > 0);
    }
    co_await renaming.join();
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(fixture.data / "agents")) names.insert(entry.path().filename());
    EXPECT_EQ(names, (std::set<std::string>{"assistant", "helper-49"})) << "no stray directory";
  });
}

TEST(Identities, HoldAtMost102400Bytes) {
  with_agent_fixture([](AgentFixture& fixture) -> Task<> {
    co_await fixture.identities.write(IdentityFile::soul, std::nullopt, std::string(102'400, 'x'));
    EXPECT_EQ(co_await failure(fixture.identities.write(IdentityFile::soul, "helper", std::string(102'401, 'x'))),
              "413 soul content too large (max 100KB)");
    EXPECT_FALSE(fs::exists(fixture.data / "agents/helper"));
    fixture.put("user-profile.md", std::string(102'401, 'x'));
    EXPECT_EQ(co_await failure(fixture.identities.read(IdentityFile::user_profile, std::nullopt)),
              "413 soul content too large (max 100KB)");
  });
}

TEST(Identities, AreNotReachedThroughSymlinks) {
  with_agent_fixture([](AgentFixture& fixture) -> Task<> {
    fixture.put(".gateway-token", "secret");
    fs::create_directories(fixture.data / "agents/inside");
    fs::create_symlink("../../.gateway-token", fixture.data / "agents/inside/soul.md");
    fs::create_symlink("/etc", fixture.data / "agents/outside");
    fs::create_symlink("/etc/passwd", fixture.data / "soul.md");
    EXPECT_EQ(co_await failure(fixture.identities.read(IdentityFile::soul, "inside")), "400 invalid agent name");
    EXPECT_EQ(co_await failure(fixture.identities.read(IdentityFile::soul, "outside")), "400 invalid agent name");
    EXPECT_EQ(co_await failure(fixture.identities.write(IdentityFile::soul, "outside", "x")), "400 invalid agent name");
    EXPECT_EQ(co_await failure(fixture.identities.read(IdentityFile::soul, std::nullopt)), "403 permission denied");
    co_await fixture.identities.write(IdentityFile::soul, "inside", "mine");
    EXPECT_EQ(fixture.get(".gateway-token"), "secret");
    EXPECT_EQ(co_await fixture.identities.read(IdentityFile::soul, "inside"), "mine");
  });
}

TEST(Identities, PutTheAgentsOwnProfileBeforeTheSharedOne) {
  with_agent_fixture([](AgentFixture& fixture) -> Task<> {
    fixture.put("soul.md", "base");
    fixture.put("user-profile.md", "shared");
    EXPECT_EQ((co_await fixture.identities.of("helper")).user_profile, "shared");
    fixture.put("agents/helper/soul.md", "own");
    fixture.put("agents/helper/user-profile.md", "override");
    const auto identity = co_await fixture.identities.of("helper");
    EXPECT_EQ(identity.base_soul + identity.agent_soul + identity.user_profile, "baseownoverride");
  });
}

TEST(Identities, LeaveUnreadableFilesOutOfAPrompt) {
  with_agent_fixture([](AgentFixture& fixture) -> Task<> {
    fs::create_directories(fixture.data / "soul.md");
    fixture.put("agents/helper/soul.md", "own");
    const auto identity = co_await fixture.identities.of("helper");
    EXPECT_EQ(identity.base_soul, "");
    EXPECT_EQ(identity.agent_soul, "own");
  });
}

TEST(Identities, RememberALineAtATime) {
  with_agent_fixture([](AgentFixture& fixture) -> Task<> {
    EXPECT_EQ(co_await failure(fixture.identities.remember("helper", "likes tea")), "404 agent not found");
    co_await fixture.make_agent("helper");
    co_await fixture.identities.remember("helper", "likes tea");
    co_await fixture.identities.remember("helper", "two\nlines");
    EXPECT_EQ((co_await fixture.identities.of("helper")).notes, "- likes tea\n- two lines\n");
    EXPECT_EQ(co_await failure(fixture.identities.remember("helper", std::string(102'400, 'x'))),
              "413 the notes are full (max 100KB)");
  });
}

TEST(Stages, BeginWithTheApprentice) {
  with_agent_fixture([](AgentFixture& fixture) -> Task<> {
    const auto agent = co_await fixture.make_agent("helper");
    EXPECT_EQ(to_json(co_await fixture.stages.show(agent)),
              R"({"agent":"helper","stage":"apprentice","reason":null,"updated_at":null,"history":[]})");
    EXPECT_EQ(fixture.stages.of(agent->id), Stage::apprentice);
  });
}

TEST(Stages, KeepEveryChangeInOrder) {
  with_agent_fixture([](AgentFixture& fixture) -> Task<> {
    const auto agent = co_await fixture.make_agent("helper");
    co_await fixture.stages.change(agent, {Stage::sovereign, "proven"});
    const auto changed = co_await fixture.stages.change(agent, {Stage::operating, "too much"});
    EXPECT_EQ(to_json(changed),
              R"({"agent":"helper","stage":"operator","reason":"too much","updated_at":"2026-01-02T03:04:05.678Z",)"
              R"("history":[{"from":"apprentice","to":"sovereign","reason":"proven","at":"2026-01-02T03:04:05.678Z"},)"
              R"({"from":"sovereign","to":"operator","reason":"too much","at":"2026-01-02T03:04:05.678Z"}]})");
    EXPECT_EQ(fixture.stages.of(agent->id), Stage::operating);
    EXPECT_EQ(to_json(co_await fixture.stages.show(agent)), to_json(changed));
  });
}

TEST(Stages, AreOfExistingAgents) {
  with_agent_fixture([](AgentFixture& fixture) -> Task<> {
    EXPECT_EQ(refusal([&] { fixture.stages.require_agent("nobody"); }), "404 agent not found");
    EXPECT_EQ(refusal([&] { fixture.stages.require_agent("light"); }), "404 agent not found");
    EXPECT_EQ(refusal([&] { fixture.stages.require_agent(".."); }), "400 invalid agent name");
    EXPECT_EQ(fixture.stages.require_agent("assistant")->name, "assistant");
    co_return;
  });
}

}  // namespace
}  // namespace agw
