#include <algorithm>
#include <chrono>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/id.hpp"
#include "features/extensions/store.hpp"
#include "testing/cpu_time.hpp"
#include "testing/extensions_fixture.hpp"

namespace agw {
namespace {

using namespace testing::extensions;

/// Makes the database look like that of a version with other shipped extensions, and applies `change`.
Task<> as_of_an_older_version(
    ExtensionsFixture& fixture, std::function<void(Connection&)> change = [](Connection&) {}) {
  co_await fixture.database.write([change](Connection& connection) {
    extension_store::set_written_built_ins(connection, "older");
    change(connection);
  });
}

TEST(ExtensionsAfterARestart, ADeletedOneStaysDeleted) {
  over_a_restart(
      [](ExtensionsFixture& fixture, std::string&) -> Task<> {
        const auto made = co_await fixture.extensions.create(theme("mine"));
        co_await fixture.extensions.remove(made->id);
        EXPECT_EQ(fixture.extensions.find(made->id), nullptr);
        EXPECT_EQ(fixture.extensions.find_by_id_or_name("mine"), nullptr);
        EXPECT_EQ(co_await failure(fixture.extensions.remove(made->id)), "404 extension not found");
      },
      [](ExtensionsFixture& fixture, std::string&) -> Task<> {
        EXPECT_EQ(fixture.extensions.find_by_id_or_name("mine"), nullptr);
        co_return;
      });
}

TEST(ExtensionsAfterARestart, ADeletedBuiltInStaysDeletedOverUpgrades) {
  over_a_restart(
      [](ExtensionsFixture& fixture, std::string&) -> Task<> {
        co_await fixture.extensions.remove("dark");
        co_await as_of_an_older_version(fixture);
      },
      [](ExtensionsFixture& fixture, std::string&) -> Task<> {
        EXPECT_EQ(fixture.extensions.find_by_id_or_name("dark"), nullptr);
        EXPECT_EQ((co_await fixture.extensions.create(theme("dark")))->source, Source::user);
      });
}

TEST(ExtensionsAfterARestart, ARestartFindsEveryRecordAsItWas) {
  over_a_restart(
      [](ExtensionsFixture& fixture, std::string& kept) -> Task<> {
        co_await fixture.extensions.create(
            object(R"({"type":"agent","name":"writer","description":"\u0000 \ud83d\ude00 \"",
            "definition":{"systemPrompt":"","tools":null,"x":[1e-7,0.1,-0.5,18446744073709551615,-9223372036854775808]},
            "trigger_def":{"type":"webhook","secret":null},"source":"agent","owner_agent_id":"assistant"})"));
        co_await fixture.extensions.toggle("self-reflect");
        co_await fixture.extensions.remove("light");
        kept = co_await fixture.extensions.list_json(fixture.outbox.disk());
      },
      [](ExtensionsFixture& fixture, std::string& kept) -> Task<> {
        EXPECT_EQ(co_await fixture.extensions.list_json(fixture.outbox.disk()), kept);
        EXPECT_EQ(fixture.extensions.require("writer")->definition.members().at("systemPrompt").as_string(), "");
        co_return;
      });
}

TEST(ExtensionsAfterARestart, AnUpgradeBringsChangedBuiltInsInButNotTheirSwitch) {
  over_a_restart(
      [](ExtensionsFixture& fixture, std::string& kept) -> Task<> {
        kept = fixture.extensions.require("dark")->id;
        co_await fixture.extensions.toggle("dark");
        co_await fixture.extensions.create(theme("mine"));
        co_await as_of_an_older_version(fixture, [](Connection& connection) {
          auto dark = extension_store::find_named(connection, "dark")->extension;
          dark.description = "old";
          dark.definition = Definition();
          extension_store::update(connection, dark);
          auto light = extension_store::find_named(connection, "light")->extension;
          light.name = "shipped-no-more";
          extension_store::update(connection, light);
        });
      },
      [](ExtensionsFixture& fixture, std::string& kept) -> Task<> {
        const auto dark = fixture.extensions.require("dark");
        EXPECT_EQ(dark->id, kept);
        EXPECT_FALSE(dark->enabled);
        EXPECT_TRUE(dark->definition.members().contains("colors"));
        EXPECT_NE(dark->description, "old");
        EXPECT_GT(dark->updated_at, fixture.clock.time) << "a new version";
        EXPECT_EQ(fixture.extensions.find_by_id_or_name("shipped-no-more"), nullptr);
        EXPECT_EQ(fixture.extensions.require("light")->source, Source::built_in);
        EXPECT_EQ(fixture.extensions.require("mine")->source, Source::user);
        co_return;
      });
}

TEST(ExtensionsAfterARestart, AnUpgradeLeavesARecordWithTheNameOfANewBuiltInAlone) {
  over_a_restart(
      [](ExtensionsFixture& fixture, std::string&) -> Task<> {
        co_await fixture.extensions.create(theme("mine"));
        co_await as_of_an_older_version(fixture, [](Connection& connection) {
          extension_store::remove(connection, extension_store::find_named(connection, "dark")->extension.id);
          auto mine = extension_store::find_named(connection, "mine")->extension;
          mine.name = "dark";
          extension_store::update(connection, mine);
        });
      },
      [](ExtensionsFixture& fixture, std::string&) -> Task<> {
        EXPECT_EQ(fixture.extensions.require("dark")->source, Source::user);
        co_return;
      });
}

#ifdef NDEBUG
constexpr int many = 10'000;
#else
constexpr int many = 500;
#endif
/// script/bench measures the speed. This bound only fails for quadratic time, not on a busy machine.
constexpr double slack = 20;

/// Processor time of the fastest of a few attempts, in milliseconds.
double min_milliseconds(std::function<void()> work) {
  auto fastest = std::chrono::nanoseconds::max();
  for (int i = 0; i < 5; ++i) {
    const auto start = testing::cpu_time();
    work();
    fastest = std::min(fastest, testing::cpu_time() - start);
  }
  return std::chrono::duration<double, std::milli>(fastest).count();
}

Extension nth_agent(int number) {
  Extension made;
  made.id = new_id();
  made.type = ExtensionType::agent;
  made.name = "agent-" + std::to_string(number);
  made.description = "One of many agents, with a description of ordinary length";
  made.definition = object(R"({"systemPrompt":"You review changes of code and say what is wrong with them, briefly.",
      "model":"anthropic/claude-sonnet","tools":["Read","Glob","Grep"],"max_steps":20,"temperature":0.5})");
  return made;
}

TEST(ExtensionsAfterARestart, ThousandsOfThemAreReadAndListedFast) {
  over_a_restart(
      [](ExtensionsFixture& fixture, std::string&) -> Task<> {
        co_await fixture.database.write([](Connection& connection) {
          for (int i = 0; i < many; ++i) extension_store::insert(connection, nth_agent(i));
        });
      },
      [](ExtensionsFixture& fixture, std::string&) -> Task<> {
        auto& connection = fixture.database.start_connection();
        const auto load = min_milliseconds([&] {
          Extensions extensions(fixture.database, fixture.hub, fixture.clock);
          extensions.load(connection);
        });
        // Of the loop and of the thread that makes the text.
        const auto list_milliseconds = [&]() -> Task<double> {
          auto& disk = fixture.outbox.disk();
          const auto began = co_await disk.run(testing::cpu_time) + testing::cpu_time();
          co_await fixture.extensions.list_json(disk);
          const auto ended = co_await disk.run(testing::cpu_time) + testing::cpu_time();
          co_return std::chrono::duration<double, std::milli>(ended - began).count();
        };
        const auto first_list = co_await list_milliseconds();
        const auto list = std::min(co_await list_milliseconds(), co_await list_milliseconds());
        const auto look_up = min_milliseconds([&] {
          for (int i = 0; i < many; ++i)
            fixture.extensions.find_agent("agent-" + std::to_string(i))->definition.members();
        });
        fmt::print("{} extensions: load {:.1f} ms, first list {:.1f} ms, list {:.1f} ms, all looked up {:.1f} ms\n",
                   many, load, first_list, list, look_up);
        EXPECT_LT(load, 50 * slack);
        EXPECT_LT(first_list, 20 * slack);
        EXPECT_LT(list, 20 * slack);
        EXPECT_LT(look_up, 20 * slack);
        EXPECT_EQ(fixture.extensions.list({.type = ExtensionType::agent}).size(), many + 1u);
        co_return;
      });
}

}  // namespace
}  // namespace agw
