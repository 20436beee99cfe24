#include "features/threads/service.hpp"

#include <gtest/gtest.h>

#include "storage/testing.hpp"
#include "testing/threads_fixture.hpp"

namespace agw {
namespace {

using namespace testing::threads;
using namespace std::chrono_literals;
using Texts = std::vector<std::string>;

TEST(Threads, BelongToTheAssistantWithoutAnAgent) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({});
    EXPECT_EQ(thread.agent_id, "assistant");
    EXPECT_EQ(thread.title, "New thread");
    EXPECT_EQ(thread.mode, ThreadMode::plan);
    EXPECT_EQ(thread.turn_count, 0);
    EXPECT_EQ(to_json(co_await fixture.threads.require(thread.id)), to_json(thread));
  });
}

TEST(Threads, TakeIdAndModeOfAnAgentThatWasNamed) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({.agent_id = "builder"});
    EXPECT_EQ(thread.agent_id, "agent-1");
    EXPECT_EQ(thread.mode, ThreadMode::act);
    EXPECT_EQ((co_await fixture.threads.create({.agent_id = "nobody"})).agent_id, "nobody");
  });
}

TEST(Threads, BelongToProjectsThatExist) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    EXPECT_EQ((co_await fixture.threads.create({.project_id = "project-1"})).project_id, "project-1");
    EXPECT_EQ(co_await failure(fixture.threads.create({.project_id = "project-2"})), "404 project not found");
  });
}

/// Cycles through a few kinds.
NewThread some_thread(std::size_t number) {
  NewThread wanted;
  if (number % 2 == 0) wanted.title = "Thread " + std::to_string(number);
  if (number % 3 == 0) wanted.agent_id = "builder";
  if (number % 5 == 0) wanted.project_id = "project-1";
  if (number % 7 == 0) wanted.job_id = "job-1";
  return wanted;
}

Task<> make(Threads& threads, NewThread wanted, Thread& made) { made = co_await threads.create(std::move(wanted)); }

TEST(Threads, AreAsRequestedIfManyAreCreatedAtOnce) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    TaskGroup group(fixture.loop);
    testing::Gate gate;
    co_await gate.shut(fixture.database, group);
    std::vector<Thread> made(40);
    for (std::size_t i = 0; i < made.size(); ++i) group.spawn(make(fixture.threads, some_thread(i), made[i]));
    co_await testing::until([&] { return fixture.database.statistics().queued == made.size(); });
    gate.open();
    co_await group.join();
    for (std::size_t i = 0; i < made.size(); ++i) {
      EXPECT_EQ(made[i].title, some_thread(i).title.value_or("New thread"));
      EXPECT_EQ(made[i].job_id, some_thread(i).job_id);
      EXPECT_EQ(to_json(co_await fixture.threads.require(made[i].id)), to_json(made[i]));
    }
    auto newest_first = ids_of(co_await fixture.threads.list({}));
    std::ranges::reverse(newest_first);
    EXPECT_EQ(newest_first, ids_of(made));
  });
}

TEST(Threads, AreNotFoundByUnknownIds) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    EXPECT_EQ(co_await failure(fixture.threads.require("x")), "404 thread not found");
    EXPECT_EQ(co_await failure(fixture.threads.detail("x")), "404 thread not found");
    EXPECT_EQ(co_await failure(fixture.threads.change("x", {})), "404 thread not found");
    EXPECT_EQ(co_await failure(fixture.threads.remove("x")), "404 thread not found");
    EXPECT_EQ(co_await failure(fixture.threads.fork("x", {})), "404 thread not found");
    EXPECT_EQ(co_await failure(fixture.threads.turns("x", {})), "404 thread not found");
    EXPECT_EQ(co_await failure(fixture.say("x", "hello")), "404 thread not found");
  });
}

TEST(Threads, AreListedNewestChangeFirstAlsoWithinOneMillisecond) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto a = co_await fixture.threads.create({});
    const auto b = co_await fixture.threads.create({});
    const auto c = co_await fixture.threads.create({});
    EXPECT_EQ(ids_of(co_await fixture.threads.list({})), (Texts{c.id, b.id, a.id}));
    co_await fixture.say(a.id, "hello");
    EXPECT_EQ(ids_of(co_await fixture.threads.list({})), (Texts{a.id, c.id, b.id}));
    EXPECT_EQ((co_await fixture.threads.require(a.id)).updated_at, fixture.clock.time);
  });
}

TEST(Threads, AreListedInPages) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto a = co_await fixture.threads.create({});
    const auto b = co_await fixture.threads.create({});
    const auto c = co_await fixture.threads.create({});
    EXPECT_EQ(ids_of(co_await fixture.threads.list({.limit = Limit{2}})), (Texts{c.id, b.id}));
    EXPECT_EQ(ids_of(co_await fixture.threads.list({.limit = Limit{2}, .before = b.id})), Texts{a.id});
    EXPECT_EQ(ids_of(co_await fixture.threads.list({.before = "x"})), Texts{});
  });
}

TEST(Threads, AreListedWithoutArchivedOnesUnlessAsked) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto kept = co_await fixture.threads.create({});
    const auto archived = co_await fixture.threads.create({});
    co_await fixture.threads.change(archived.id, {.archived = true});
    EXPECT_EQ(ids_of(co_await fixture.threads.list({})), Texts{kept.id});
    EXPECT_EQ(ids_of(co_await fixture.threads.list({.archived = true})), (Texts{archived.id, kept.id}));
  });
}

TEST(Threads, AreNarrowedByAgentProjectAndJob) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto agents = co_await fixture.threads.create({.agent_id = "builder"});
    const auto projects = co_await fixture.threads.create({.project_id = "project-1"});
    const auto jobs = co_await fixture.threads.create({.job_id = "job-1"});
    EXPECT_EQ(ids_of(co_await fixture.threads.list({.agent_id = "builder"})), Texts{agents.id});
    EXPECT_EQ(ids_of(co_await fixture.threads.list({.agent_id = "agent-1"})), Texts{agents.id});
    EXPECT_EQ(ids_of(co_await fixture.threads.list({.project_id = "project-1"})), Texts{projects.id});
    EXPECT_EQ(ids_of(co_await fixture.threads.list({.job_id = "nightly"})), Texts{jobs.id});
    EXPECT_EQ(ids_of(co_await fixture.threads.list({.agent_id = "builder", .job_id = "nightly"})), Texts{});
    EXPECT_EQ(ids_of(co_await fixture.threads.list({.project_id = "x"})), Texts{});
  });
}

TEST(Threads, AreListedSinceATimeExclusively) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto old = co_await fixture.threads.create({});
    fixture.clock.time += 1ms;
    const auto fresh = co_await fixture.threads.create({});
    EXPECT_EQ(ids_of(co_await fixture.threads.list({.since = old.updated_at})), Texts{fresh.id});
    EXPECT_EQ(ids_of(co_await fixture.threads.list({.since = fresh.updated_at})), Texts{});
    EXPECT_EQ(ids_of(co_await fixture.threads.list({.since = parse_iso8601("9999-12-31")})), Texts{});
    EXPECT_EQ((co_await fixture.threads.list({.since = parse_iso8601("0000-01-01")})).size(), 2u);
  });
}

TEST(Threads, AreListedAsTheTextOfTheSameRecords) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    EXPECT_EQ(co_await fixture.threads.list_text({}), "[]");
    const auto a = co_await fixture.threads.create({});
    const auto b = co_await fixture.threads.create({.title = "a \"b\""});
    EXPECT_EQ(co_await fixture.threads.list_text({}), "[" + to_json(b) + "," + to_json(a) + "]");
  });
}

TEST(Threads, ChangeOnlyWhatIsGiven) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({});
    fixture.clock.time += 5ms;
    const auto same = co_await fixture.threads.change(thread.id, {});
    EXPECT_EQ(to_json(same), to_json(thread));
    const auto renamed = co_await fixture.threads.change(thread.id, {.title = "Plans"});
    EXPECT_EQ(renamed.title, "Plans");
    EXPECT_EQ(renamed.updated_at, fixture.clock.time);
    const auto acting = co_await fixture.threads.change(thread.id, {.mode = {true, ThreadMode::act}});
    EXPECT_EQ(acting.mode, ThreadMode::act);
    EXPECT_EQ(acting.title, "Plans");
  });
}

TEST(Threads, PlanWhenTheirModeIsNull) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({.agent_id = "builder"});
    EXPECT_EQ((co_await fixture.threads.change(thread.id, {.mode = {true, std::nullopt}})).mode, ThreadMode::plan);
  });
}

TEST(Threads, AreTitledByTheirFirstUserTurn) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({});
    co_await fixture.say(thread.id, "You are helpful.", Role::system);
    EXPECT_EQ((co_await fixture.threads.require(thread.id)).title, "New thread");
    co_await fixture.say(thread.id, "How do I bake bread?");
    co_await fixture.say(thread.id, "And cake?");
    EXPECT_EQ((co_await fixture.threads.require(thread.id)).title, "How do I bake bread?");
  });
}

TEST(Threads, KeepTheTitleThatAPersonGave) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto given = co_await fixture.threads.create({.title = "Kitchen"});
    co_await fixture.say(given.id, "How do I bake bread?");
    co_await fixture.threads.suggest_title(given.id, "Bread");
    EXPECT_EQ((co_await fixture.threads.require(given.id)).title, "Kitchen");
  });
}

TEST(Threads, TakeASuggestedTitleWithoutMoving) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({});
    co_await fixture.say(thread.id, "How do I bake bread?");
    const auto before = co_await fixture.threads.require(thread.id);
    fixture.clock.time += 1s;
    co_await fixture.threads.suggest_title(thread.id, "\n \"Baking.\"\nBecause of the bread.");
    const auto after = co_await fixture.threads.require(thread.id);
    EXPECT_EQ(after.title, "Baking");
    EXPECT_EQ(after.updated_at, before.updated_at);
    EXPECT_EQ(fixture.heard.types.back(), "thread-updated");
  });
}

TEST(Threads, AreDeletedWithTheirTurns) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({});
    const auto turn = co_await fixture.say(thread.id, "hello");
    co_await fixture.threads.remove(thread.id);
    EXPECT_EQ(co_await failure(fixture.threads.require(thread.id)), "404 thread not found");
    EXPECT_EQ(co_await failure(fixture.threads.require_turn(turn.id)), "404 turn not found");
    EXPECT_EQ(co_await failure(fixture.threads.remove_turn(turn.id)), "404 turn not found");
    EXPECT_EQ(co_await failure(fixture.threads.remove(thread.id)), "404 thread not found");
  });
}

TEST(Threads, LeaveNothingBehindOnceTheyArePurged) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto kept = co_await fixture.threads.create({});
    co_await fixture.say(kept.id, "stays");
    const auto thread = co_await fixture.threads.create({});
    for (int i = 0; i < 250; ++i) co_await fixture.say(thread.id, "goes");
    co_await fixture.threads.remove(thread.id);
    co_await fixture.threads.index_all();
    const auto left = co_await fixture.database.read([](Connection& connection) {
      auto row = connection.prepare("SELECT (SELECT count(*) FROM turns), (SELECT count(*) FROM deleted_threads)");
      row.step();
      return std::pair(row.integer(0), row.integer(1));
    });
    EXPECT_EQ(left, std::pair(std::int64_t{1}, std::int64_t{0}));
  });
}

TEST(Threads, ArePinnedWithoutCountingAsUpdated) {
  with_threads([](ThreadsFixture& room) -> Task<> {
    const auto thread = co_await room.threads.create({});
    EXPECT_FALSE(thread.pinned);
    const auto pinned = co_await room.threads.change(thread.id, {.pinned = true});
    EXPECT_TRUE(pinned.pinned);
    EXPECT_EQ(pinned.updated_at, thread.updated_at);
    EXPECT_FALSE((co_await room.threads.fork(thread.id, {})).pinned);
    EXPECT_FALSE((co_await room.threads.change(thread.id, {.pinned = false})).pinned);
  });
}

TEST(Threads, AreNotDeletedWhileInUse) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({});
    fixture.runs.open({.id = "r", .thread_id = thread.id});
    EXPECT_EQ(co_await failure(fixture.threads.remove(thread.id)), "409 thread is in use");
    EXPECT_EQ((co_await fixture.threads.require(thread.id)).id, thread.id);
  });
}

TEST(Threads, ShowWhatIsBeingAnswered) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({});
    EXPECT_TRUE((co_await fixture.threads.detail(thread.id)).active_run.is_null());
    fixture.runs.open({.id = "r", .thread_id = thread.id, .turn_id = "t"});
    const auto text = to_json(co_await fixture.threads.detail(thread.id));
    EXPECT_TRUE(
        text.ends_with(R"("turn_count":0,"active_run":{"runId":"r","turnId":"t","seq":0,"text":"","tools":[]}})"))
        << text;
  });
}

TEST(Threads, AreForkedUpToATurn) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({.agent_id = "builder", .job_id = "job-1"});
    co_await fixture.say(thread.id, "one");
    const auto two = co_await fixture.say(thread.id, "two", Role::assistant);
    co_await fixture.say(thread.id, "three");
    const auto fork = co_await fixture.threads.fork(thread.id, {two.id});
    EXPECT_EQ(fork.turn_count, 2);
    EXPECT_EQ(fork.agent_id, "agent-1");
    EXPECT_EQ(fork.title, "one");
    EXPECT_EQ(fork.job_id, std::nullopt);
    EXPECT_EQ(to_json(co_await fixture.threads.require(fork.id)), to_json(fork));
    const auto copies = co_await fixture.threads.turns(fork.id, {});
    EXPECT_EQ(contents_of(copies), (Texts{"two", "one"}));
    EXPECT_NE(copies.front().id, two.id);
    EXPECT_EQ(copies.front().role, Role::assistant);
    EXPECT_EQ((co_await fixture.threads.require(thread.id)).turn_count, 3);
  });
}

TEST(Threads, AreForkedWholeWithoutATurn) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({});
    EXPECT_EQ((co_await fixture.threads.fork(thread.id, {})).turn_count, 0);
    co_await fixture.say(thread.id, "one");
    EXPECT_EQ((co_await fixture.threads.fork(thread.id, {})).turn_count, 1);
  });
}

TEST(Threads, AreNotForkedAtATurnOfAnother) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({});
    const auto other = co_await fixture.threads.create({});
    const auto turn = co_await fixture.say(other.id, "hello");
    EXPECT_EQ(co_await failure(fixture.threads.fork(thread.id, {turn.id})), "404 turn not found");
    EXPECT_EQ(co_await failure(fixture.threads.fork(thread.id, {"x"})), "404 turn not found");
  });
}

TEST(Threads, KeepInAForkWhichTurnAnswersWhich) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({});
    const auto question = co_await fixture.say(thread.id, "why?");
    co_await fixture.say(thread.id, "and how?");
    co_await fixture.threads.add_turn({.thread_id = thread.id,
                                       .role = Role::assistant,
                                       .content = "because",
                                       .metadata = json::object{{"in_reply_to", question.id}, {"run_id", "r"}},
                                       .in_reply_to = question.id});
    const auto fork = co_await fixture.threads.fork(thread.id, {});
    const auto copies = co_await fixture.threads.turns(fork.id, {});
    EXPECT_EQ(copies[0].metadata->at("in_reply_to").as_string(), copies[2].id);
    EXPECT_EQ(copies[0].metadata->at("run_id").as_string(), "r");
    EXPECT_EQ((co_await fixture.threads.question_of(copies[0].id)).id, copies[2].id);
  });
}

}  // namespace
}  // namespace agw
