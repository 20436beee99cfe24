#include "features/extensions/service.hpp"

#include <filesystem>
#include <fstream>
#include <set>

#include <gmock/gmock.h>

#include "base/async/task_group.hpp"
#include "features/extensions/store.hpp"
#include "testing/extensions_fixture.hpp"

namespace agw {
namespace {

using namespace testing::extensions;

TEST(Extensions, AnExtensionIsCreatedWithWhatWasSentAndLiveAtOnce) {
  with_extensions([](ExtensionsFixture& fixture) -> Task<> {
    const auto made = co_await fixture.extensions.create(object(R"({
        "type": "job", "name": "tidy", "description": "Tidies up", "enabled": true, "source": "community",
        "definition": {"agent_id": "assistant", "prompt": "Tidy", "mine": [1, {"x": null}]},
        "trigger_def": {"type": "cron", "expression": "0 9 * * *", "note": "n"}})"));
    EXPECT_EQ(made->id.size(), 36u);
    EXPECT_EQ(to_json(*made),
              R"({"id":")" + made->id +
                  R"(","type":"job","name":"tidy","description":"Tidies up",)"
                  R"("definition":{"agent_id":"assistant","prompt":"Tidy","mine":[1,{"x":null}]},)"
                  R"("trigger_def":{"type":"cron","expression":"0 9 * * *","note":"n"},"source":"community",)"
                  R"("enabled":true,"owner_agent_id":null,"essential":false,)"
                  R"("created_at":"2026-01-02T03:04:05.678Z","updated_at":"2026-01-02T03:04:05.678Z"})");
    EXPECT_EQ(fixture.extensions.find(made->id), made);
    EXPECT_EQ(fixture.extensions.find_by_id_or_name("tidy"), made);
    EXPECT_THAT(co_await fixture.extensions.list_json(fixture.outbox.disk(), {.type = ExtensionType::job}),
                ::testing::StartsWith("[" + to_json(*made) + ","));
  });
}

TEST(Extensions, ANewOneIsTheUsersAndDisabledUnlessItSaysOtherwise) {
  with_extensions([](ExtensionsFixture& fixture) -> Task<> {
    const auto made = co_await fixture.extensions.create(theme("mine"));
    EXPECT_EQ(made->source, Source::user);
    EXPECT_FALSE(made->enabled);
    EXPECT_FALSE(made->trigger_def);
  });
}

TEST(Extensions, AnInvalidBodyCreatesNothing) {
  with_extensions([](ExtensionsFixture& fixture) -> Task<> {
    const auto before = fixture.extensions.list().size();
    EXPECT_EQ(co_await failure(fixture.extensions.create(theme("Mine"))),
              "400 name must be kebab-case (a-z, 0-9, hyphens)");
    EXPECT_EQ(
        co_await failure(fixture.extensions.create(with(theme("a"), "type", "command"))),
        R"(400 validation failed {"details":[{"path":"definition.prompt","message":"definition.prompt is required"}]})");
    EXPECT_EQ(fixture.extensions.list().size(), before);
  });
}

TEST(Extensions, NamesAreUniqueOverAllTypes) {
  with_extensions([](ExtensionsFixture& fixture) -> Task<> {
    co_await fixture.extensions.create(theme("mine"));
    const auto* taken = R"(409 extension name already exists {"name":"mine"})";
    EXPECT_EQ(co_await failure(fixture.extensions.create(theme("mine"))), taken);
    EXPECT_EQ(co_await failure(fixture.extensions.create(with(theme("mine"), "type", "widget"))), taken);
    EXPECT_EQ(co_await failure(fixture.extensions.create(theme("assistant"))),
              R"(409 extension name already exists {"name":"assistant"})");
    co_await fixture.extensions.create(theme("other"));
    EXPECT_EQ(co_await failure(fixture.extensions.change("other", {{"name", "mine"}})), taken);
  });
}

TEST(Extensions, OfTwoConcurrentCreationsWithOneNameOneSucceeds) {
  with_extensions([](ExtensionsFixture& fixture) -> Task<> {
    TaskGroup group(static_cast<Loop&>((co_await asio::this_coro::executor).context()));
    std::multiset<std::string> ends;
    for (int i = 0; i < 5; ++i) {
      group.spawn([](ExtensionsFixture& in, std::multiset<std::string>& out) -> Task<> {
        out.insert(co_await failure(in.extensions.create(theme("mine"))));
      }(fixture, ends));
    }
    co_await group.join();
    EXPECT_EQ(ends.count("none"), 1u);
    EXPECT_EQ(ends.count(R"(409 extension name already exists {"name":"mine"})"), 4u);
    const auto json = co_await fixture.extensions.list_json(fixture.outbox.disk(), {.source = Source::user});
    EXPECT_EQ(json.find("mine"), json.rfind("mine"));
  });
}

TEST(Extensions, TheOwnerIsKeptByIdWhereAnAgentMadeIt) {
  with_extensions([](ExtensionsFixture& fixture) -> Task<> {
    const auto assistant = fixture.extensions.find_agent("assistant");
    auto body = with(theme("mine"), "source", "agent");
    const auto named = co_await fixture.extensions.create(with(body, "owner_agent_id", "assistant"));
    EXPECT_EQ(named->owner_agent_id, assistant->id);
    const auto stranger = co_await fixture.extensions.create(with(with(body, "name", "b"), "owner_agent_id", "nobody"));
    EXPECT_EQ(stranger->owner_agent_id, "nobody");
    const auto users = co_await fixture.extensions.create(with(theme("c"), "owner_agent_id", "assistant"));
    EXPECT_FALSE(users->owner_agent_id);
    EXPECT_EQ(names_of(fixture.extensions.list({.owner_agent_id = "assistant"})), std::vector<std::string>{"mine"});
    EXPECT_EQ(names_of(fixture.extensions.list({.owner_agent_id = assistant->id})), std::vector<std::string>{"mine"});
    co_await fixture.extensions.create(with(with(theme("nobody"), "type", "agent"), "definition", json::object{}));
    EXPECT_EQ(names_of(fixture.extensions.list({.owner_agent_id = "nobody"})), std::vector<std::string>{"b"})
        << "as the record shows it, though there is such an agent by now";
  });
}

TEST(Extensions, ListsAreNewestFirstAndNarrowedByEveryFilterGiven) {
  with_extensions([](ExtensionsFixture& fixture) -> Task<> {
    co_await fixture.extensions.create(theme("a"));
    co_await fixture.extensions.create(with(theme("b"), "enabled", true));
    co_await fixture.extensions.create(with(with(theme("c"), "type", "widget"), "source", "community"));
    using Names = std::vector<std::string>;
    EXPECT_EQ(names_of(fixture.extensions.list({.source = Source::user})), (Names{"b", "a"}));
    EXPECT_EQ(names_of(fixture.extensions.list({.enabled = false})), (Names{"c", "a", "self-reflect"}));
    EXPECT_EQ(
        names_of(fixture.extensions.list({.type = ExtensionType::theme, .enabled = true, .source = Source::user})),
        Names{"b"});
    EXPECT_EQ(names_of(fixture.extensions.list({.owner_agent_id = "nobody"})), Names{});
    EXPECT_EQ(co_await fixture.extensions.list_json(fixture.outbox.disk(), {.owner_agent_id = "nobody"}), "[]");
    EXPECT_EQ(fixture.extensions.list().front()->name, "c");
    const auto all = co_await fixture.extensions.list_json(fixture.outbox.disk());
    EXPECT_EQ(fixture.extensions.list().size(), parse_json(all)->as_array().size());
  });
}

TEST(Extensions, AnAgentIsFoundByIdOrNameAndNothingElseIs) {
  with_extensions([](ExtensionsFixture& fixture) -> Task<> {
    const auto assistant = fixture.extensions.find_agent("assistant");
    EXPECT_EQ(fixture.extensions.find_agent(assistant->id), assistant);
    EXPECT_EQ(fixture.extensions.find_agent("help"), nullptr);
    EXPECT_EQ(fixture.extensions.find_agent("nobody"), nullptr);
    EXPECT_EQ(fixture.extensions.find(ExtensionType::command, "help")->name, "help");
    co_return;
  });
}

TEST(Extensions, AChangeTouchesOnlyWhatIsGiven) {
  with_extensions([](ExtensionsFixture& fixture) -> Task<> {
    auto body = with(theme("mine"), "definition", object(R"({"dark":true,"font":"serif"})"));
    const auto made = co_await fixture.extensions.create(with(body, "trigger_def", object(R"({"type":"webhook"})")));
    fixture.clock.time += std::chrono::seconds{1};
    const auto changed = co_await fixture.extensions.change(made->id, {{"description", "new"}, {"name", nullptr}});
    EXPECT_EQ(changed->description, "new");
    EXPECT_EQ(changed->name, "mine");
    EXPECT_EQ(changed->definition.text(), made->definition.text());
    EXPECT_EQ(changed->trigger_def->text(), R"({"type":"webhook"})");
    EXPECT_EQ(changed->created_at, made->created_at);
    EXPECT_EQ(changed->updated_at, fixture.clock.time);
    EXPECT_EQ(fixture.extensions.find(made->id), changed);
  });
}

TEST(Extensions, ADefinitionIsReplacedWhole) {
  with_extensions([](ExtensionsFixture& fixture) -> Task<> {
    co_await fixture.extensions.create(with(theme("mine"), "definition", object(R"({"dark":true,"font":"serif"})")));
    const auto changed = co_await fixture.extensions.change("mine", {{"definition", json::object{{"radius", 4}}}});
    EXPECT_EQ(changed->definition.text(), R"({"radius":4})");
  });
}

TEST(Extensions, ATriggerIsReplacedAndRemovedByNull) {
  with_extensions([](ExtensionsFixture& fixture) -> Task<> {
    co_await fixture.extensions.create(with(theme("mine"), "trigger_def", object(R"({"type":"webhook"})")));
    auto changed =
        co_await fixture.extensions.change("mine", object(R"({"trigger":{"type":"event","event":"turn.created"}})"));
    EXPECT_EQ(changed->trigger_def->text(), R"({"type":"event","event":"turn.created"})");
    changed = co_await fixture.extensions.change("mine", {{"trigger", nullptr}});
    EXPECT_FALSE(changed->trigger_def);
  });
}

TEST(Extensions, ARenamedOneIsFoundByItsNewNameOnly) {
  with_extensions([](ExtensionsFixture& fixture) -> Task<> {
    const auto made = co_await fixture.extensions.create(theme("mine"));
    const auto renamed = co_await fixture.extensions.change("mine", {{"name", "yours"}});
    EXPECT_EQ(fixture.extensions.find_by_id_or_name("mine"), nullptr);
    EXPECT_EQ(fixture.extensions.find_by_id_or_name("yours"), renamed);
    EXPECT_EQ(fixture.extensions.find(made->id), renamed);
    co_await fixture.extensions.create(theme("mine"));
    EXPECT_EQ(names_of(fixture.extensions.list({.source = Source::user})), (std::vector<std::string>{"mine", "yours"}));
    EXPECT_EQ((co_await fixture.extensions.change("yours", {{"name", "yours"}}))->name, "yours");
  });
}

TEST(Extensions, AnEmptyChangeLeavesTheRecordAsItIs) {
  with_extensions([](ExtensionsFixture& fixture) -> Task<> {
    const auto made = co_await fixture.extensions.create(theme("mine"));
    fixture.clock.time += std::chrono::seconds{1};
    fixture.heard.events.clear();
    const auto same = co_await fixture.extensions.change("mine", {});
    EXPECT_EQ(to_json(*same), to_json(*made));
    EXPECT_EQ(to_json(*co_await fixture.extensions.change("help", {})), to_json(*fixture.extensions.require("help")));
    EXPECT_TRUE(fixture.heard.events.empty());
  });
}

TEST(Extensions, AChangeOfAnotherVersionIsRefused) {
  with_extensions([](ExtensionsFixture& fixture) -> Task<> {
    const auto made = co_await fixture.extensions.create(theme("mine"));
    const auto version = to_iso8601(made->updated_at);
    const auto changed = co_await fixture.extensions.change("mine", {{"description", "a"}, {"if_updated_at", version}});
    EXPECT_EQ(changed->updated_at, made->updated_at + std::chrono::milliseconds{1})
        << "versions of one millisecond differ";
    EXPECT_EQ(co_await failure(fixture.extensions.change("mine", {{"description", "b"}, {"if_updated_at", version}})),
              "409 changed meanwhile");
    EXPECT_EQ(co_await failure(fixture.extensions.change("mine", {{"if_updated_at", version}})),
              "409 changed meanwhile");
    EXPECT_EQ(fixture.extensions.require("mine")->description, "a");
  });
}

TEST(Extensions, ToggleFlipsEnabledAndNothingElse) {
  with_extensions([](ExtensionsFixture& fixture) -> Task<> {
    const auto made = co_await fixture.extensions.create(theme("mine"));
    EXPECT_TRUE((co_await fixture.extensions.toggle(made->id))->enabled);
    const auto twice = co_await fixture.extensions.toggle("mine");
    EXPECT_FALSE(twice->enabled);
    EXPECT_EQ(twice->definition.text(), made->definition.text());
  });
}

TEST(Extensions, TogglesAtTheSameTimeAllCount) {
  with_extensions([](ExtensionsFixture& fixture) -> Task<> {
    co_await fixture.extensions.create(theme("mine"));
    TaskGroup group(static_cast<Loop&>((co_await asio::this_coro::executor).context()));
    for (int i = 0; i < 7; ++i) {
      group.spawn([](ExtensionsFixture& in) -> Task<> { co_await in.extensions.toggle("mine"); }(fixture));
    }
    co_await group.join();
    EXPECT_TRUE(fixture.extensions.require("mine")->enabled);
  });
}

TEST(Extensions, OfABuiltInOnlyEnabledChanges) {
  with_extensions([](ExtensionsFixture& fixture) -> Task<> {
    const auto* refused = "403 built-in extensions are not editable";
    EXPECT_EQ(co_await failure(fixture.extensions.change("dark", {{"description", "mine"}})), refused);
    EXPECT_EQ(co_await failure(fixture.extensions.change("dark", {{"enabled", false}, {"name", "darker"}})), refused);
    EXPECT_EQ(co_await failure(fixture.extensions.change("dark", {{"trigger", nullptr}})), refused);
    EXPECT_FALSE((co_await fixture.extensions.change("dark", {{"enabled", false}}))->enabled);
    EXPECT_TRUE((co_await fixture.extensions.toggle("dark"))->enabled);
  });
}

TEST(Extensions, EssentialOnesCanBeNeitherDisabledNorDeleted) {
  with_extensions([](ExtensionsFixture& fixture) -> Task<> {
    for (const auto* name : {"assistant", "help", "calculate"}) {
      EXPECT_EQ(co_await failure(fixture.extensions.toggle(name)), "403 cannot disable essential extensions");
      EXPECT_EQ(co_await failure(fixture.extensions.change(name, {{"enabled", false}})),
                "403 cannot disable essential extensions");
      EXPECT_EQ(co_await failure(fixture.extensions.remove(name)), "403 cannot delete essential extensions");
      EXPECT_TRUE((co_await fixture.extensions.change(name, {{"enabled", true}}))->enabled);
    }
  });
}

TEST(Extensions, UnknownOnesAreNotFound) {
  with_extensions([](ExtensionsFixture& fixture) -> Task<> {
    const auto* missing = "404 extension not found";
    EXPECT_EQ(co_await failure(fixture.extensions.change("nothing", {{"enabled", 5}})), missing);
    EXPECT_EQ(co_await failure(fixture.extensions.toggle("018c5b1e-1b1c-7c3d-8e4f-123456789abc")), missing);
    EXPECT_EQ(co_await failure(fixture.extensions.remove("")), missing);
    EXPECT_THROW(fixture.extensions.require("nothing"), NotFound);
  });
}

TEST(Extensions, EveryChangeIsAnnouncedToObserversAndTheGateway) {
  with_extensions([](ExtensionsFixture& fixture) -> Task<> {
    const auto id = (co_await fixture.extensions.create(theme("mine")))->id;
    co_await fixture.extensions.toggle("mine");
    co_await fixture.extensions.change("mine", {{"name", "yours"}});
    co_await fixture.extensions.remove("yours");
    const auto event = [&](std::string_view action, std::string_view name, bool enabled) {
      return R"({"type":"extension-changed","action":")" + std::string(action) + R"(","id":")" + id + R"(","name":")" +
             std::string(name) + R"(","extensionType":"theme","enabled":)" + (enabled ? "true" : "false") + "}";
    };
    EXPECT_EQ(fixture.heard.events,
              (std::vector<std::string>{event("created", "mine", false), event("updated", "mine", true),
                                        event("updated", "yours", true), event("deleted", "yours", true)}));
    EXPECT_EQ(fixture.heard.changes, (std::vector<std::string>{"extension.created mine", "extension.updated mine",
                                                               "extension.updated yours", "extension.deleted yours"}));
  });
}

TEST(Extensions, ARefusedChangeIsNotAnnounced) {
  with_extensions([](ExtensionsFixture& fixture) -> Task<> {
    co_await failure(fixture.extensions.create(theme("dark")));
    co_await failure(fixture.extensions.toggle("help"));
    co_await failure(fixture.extensions.remove("help"));
    EXPECT_TRUE(fixture.heard.events.empty());
    EXPECT_TRUE(fixture.heard.changes.empty());
  });
}

TEST(Extensions, AccompanyingWritesAreInTheSameTransaction) {
  with_extensions([](ExtensionsFixture& fixture) -> Task<> {
    const auto seen = std::make_shared<std::string>();
    const auto made = co_await fixture.extensions.create(
        theme("mine"), [seen](Connection&, const Extension& record) { *seen = to_json(record); });
    EXPECT_EQ(*seen, to_json(*made));
    const auto toggled = co_await fixture.extensions.toggle(
        "mine", [seen](Connection&, const Extension& record) { *seen = to_json(record); });
    EXPECT_EQ(*seen, to_json(*toggled));
    EXPECT_EQ(co_await failure(fixture.extensions.create(theme("other"),
                                                         [](Connection&, const Extension&) { throw Conflict("no"); })),
              "409 no");
    EXPECT_EQ(fixture.extensions.find_by_id_or_name("other"), nullptr);
    co_await fixture.extensions.create(theme("other"));
  });
}

TEST(Extensions, AFileThatCannotBecomeTheRecordChangesNothing) {
  testing::run([](Loop& loop) -> Task<> {
    const testing::ScratchDirectory directory;
    ExtensionsFixture fixture(loop, directory, Directories::followed);
    co_await fixture.extensions.create(with(with(theme("known"), "type", "agent"), "description", "before"));
    // As the gateway writes it, each quotation mark has two characters, and the file is longer than allowed.
    const auto text = "description: after\nsystemPrompt: '" + std::string(700'000, '"') + "'\n";
    std::filesystem::create_directories(directory.path() / "agents/fresh");
    for (const auto* name : {"known", "fresh"})
      std::ofstream(directory.path() / "agents" / name / "agent.yaml") << text;
    EXPECT_THAT(co_await fixture.extensions.reseed(),
                ::testing::ElementsAre("agents/fresh/agent.yaml: validation failed",
                                       "agents/known/agent.yaml: validation failed"));
    EXPECT_EQ(co_await failure(fixture.extensions.create(theme("fresh"))), "none") << "the name is free";
    const auto stored = co_await fixture.database.read(
        [](Connection& connection) { return extension_store::find_named(connection, "known"); });
    EXPECT_EQ(stored->extension.description, "before");
    EXPECT_EQ(fixture.extensions.require("known")->description, "before");
  });
}

}  // namespace
}  // namespace agw
