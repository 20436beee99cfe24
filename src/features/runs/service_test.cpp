#include "features/runs/service.hpp"

#include <functional>
#include <future>
#include <set>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "storage/testing.hpp"
#include "testing/run.hpp"
#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

/// Calls `body` with an active run that is on disk.
void with_a_run(std::function<Task<>(Loop&, Runs&, Database&, const ActiveRunPointer&)> body) {
  testing::run([&](Loop& loop) -> Task<> {
    const testing::ScratchDirectory directory;
    Database database(loop, {.file = directory.path() / "gateway.db", .backups = directory.path() / "backups"});
    Hub hub;
    const SystemClock clock;
    Runs runs(loop, database, hub, clock);
    const auto active = runs.open({.id = "run",
                                   .thread_id = "thread",
                                   .turn_id = "turn",
                                   .assistant_turn_id = "answer",
                                   .agent_id = "agent",
                                   .order = {}});
    co_await database.write([&](Connection& connection) { Runs::record(connection, active->run, clock.now()); });
    co_await body(loop, runs, database, active);
    runs.withdraw(active);
    co_await runs.stop();
  });
}

TEST(Runs, FindTheStepsOfAKilledRunHoweverDeepItsCallsAre) {
  with_a_run([](Loop&, Runs& runs, Database& database, const ActiveRunPointer& active) -> Task<> {
    const auto levels = std::string(max_json_depth, '[') + std::string(max_json_depth, ']');
    const json::array calls{{{"id", "call"}, {"name", "Read"}, {"input", parse_json(levels).value()}}};
    co_await runs.store_step(active, {.text_end = 0, .calls = calls}, {});
    const auto left = co_await database.read([](Connection& connection) { return Runs::interrupted(connection); });
    EXPECT_EQ(left.at(0).steps.at(0).calls, calls);
  });
}

TEST(Runs, KeepTheTextOfAStepThatCouldNotBeStoredWithTheNext) {
  with_a_run([](Loop&, Runs& runs, Database& database, const ActiveRunPointer& active) -> Task<> {
    runs.text(*active, "Half ");
    const auto finds_no_room = [](Connection&) { throw std::runtime_error("disk full"); };
    bool failed = false;
    try {
      co_await runs.store_step(active, {.text_end = 5, .calls = {}}, finds_no_room);
    } catch (const std::runtime_error&) {
      failed = true;
    }
    EXPECT_TRUE(failed);
    runs.text(*active, "of it");
    co_await runs.store_step(active, {.text_end = 10, .calls = {}}, {});
    const auto left = co_await database.read([](Connection& connection) { return Runs::interrupted(connection); });
    EXPECT_EQ(left.at(0).text, "Half of it");
    EXPECT_EQ(left.at(0).steps.size(), 1U);
  });
}

TEST(Runs, DivideALongAnswerIntoPiecesAsItComes) {
  with_a_run([](Loop&, Runs& runs, Database& database, const ActiveRunPointer& active) -> Task<> {
    active->started = true;
    const std::string part(600 * 1024, 'x');
    for (int i = 0; i < 4; ++i) runs.text(*active, part);
    runs.reasoning(*active, part);
    EXPECT_EQ(active->unsaved.size(), 2U);
    for (int i = 0; i < 5000; ++i) runs.text(*active, "y");
    EXPECT_EQ(active->unsaved.size(), 3U);
    co_await runs.store_step(active, {.text_end = 0, .calls = {}}, {});
    EXPECT_TRUE(active->unsaved.empty());
    const auto left = co_await database.read([](Connection& connection) { return Runs::interrupted(connection); });
    EXPECT_EQ(left.at(0).pieces.size(), 4U);
    EXPECT_EQ(left.at(0).text, active->log.content());
  });
}

TEST(Runs, AreWrittenInPiecesWhileTheyGoOn) {
  with_a_run([](Loop&, Runs& runs, Database&, const ActiveRunPointer& active) -> Task<> {
    std::string text;
    while (text.size() < 300UL * 1024) text += "\"\u00e4\u20ac\U0001f600\\\n";
    runs.text(*active, text);
    runs.reasoning(*active, "Hm. " + text);
    runs.begin_call(*active, {{"toolCallId", "call"}, {"toolName", "Read"}, {"input", json::object{}}});
    const auto expected = to_json(json::value(runs.active(nullptr)));
    const auto pieces = runs.active_text(nullptr);
    std::string found;
    for (auto piece = pieces->next(); !piece.empty(); piece = pieces->next()) {
      EXPECT_LT(piece.size(), 4 * long_text_piece);
      found += piece;
      runs.text(*active, "later");
    }
    EXPECT_EQ(found, expected);
    const std::set<std::string, std::less<>> none;
    EXPECT_EQ(runs.active_text(&none)->next(), "[]");
    co_return;
  });
}

Task<> finish(Runs& runs, ActiveRunPointer active, Runs::AtEnd at_end) {
  co_await runs.end(active, {.type = "finish", .members = {{"finishReason", "stop"}}}, std::move(at_end));
}

TEST(Runs, ListTheLastEventOnlyOnceItIsSent) {
  with_a_run([](Loop& loop, Runs& runs, Database&, const ActiveRunPointer& active) -> Task<> {
    runs.text(*active, "Hi");
    std::promise<void> listed;
    TaskGroup ending(loop);
    ending.spawn(finish(runs, active, [&listed](Connection&) { listed.get_future().wait(); }));
    co_await testing::until([&active] { return active->is_ending; });
    const auto before = co_await runs.events("thread", {.runId = "run", .after = 0});
    listed.set_value();
    co_await ending.join();
    const auto after = co_await runs.events("thread", {.runId = "run", .after = 0});
    EXPECT_EQ(parse_stored_json(before).as_array().size(), 1U);
    EXPECT_EQ(parse_stored_json(after).as_array().size(), 2U);
  });
}

}  // namespace
}  // namespace agw
