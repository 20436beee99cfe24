#include "features/approvals/service.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "features/integrations/types.hpp"
#include "storage/testing.hpp"
#include "testing/threads_fixture.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::SizeIs;
using testing::until;
using testing::threads::failure;

/// A person whose client receives the events of one thread.
struct Person : Subscriber {
  explicit Person(std::string hears) : thread_id(std::move(hears)) {}
  void deliver(const DomainEvent&) override {}
  bool answers(std::string_view thread) const override { return thread == thread_id; }
  std::string thread_id;
};

AskedCall command(ActiveRunPointer run, std::string line = "git status") {
  return {.run = std::move(run),
          .agent_id = "agent-1",
          .agent = "builder",
          .tool = "Bash",
          .input = {{"command", line}},
          .target = line,
          .reason = "Bash needs an agent of stage operator here",
          .pattern = "git status *"};
}

AskedCall question(ActiveRunPointer run, std::optional<json::object> form = {}) {
  return {.kind = PermissionKind::question,
          .run = std::move(run),
          .agent_id = "agent-1",
          .tool = "AskUser",
          .question = AskedQuestion{"Which?", {}, std::move(form)}};
}

/// The service, and runs that ask for permission.
struct ApprovalsRoom {
  ApprovalsRoom(Loop& loop, const testing::ScratchDirectory& directory, Approvals::Options options = {})
      : near(loop, directory),
        approvals(loop, near.database, near.hub, near.clock, near.runs, near.threads, options),
        asking(loop) {
    approvals.load(near.database.start_connection());
  }

  ActiveRunPointer new_run(const std::string& thread_id = "thread") {
    const auto name = "run-" + std::to_string(runs.size());
    return runs.emplace_back(near.runs.open({.id = name,
                                             .thread_id = thread_id,
                                             .turn_id = "turn-of-" + name,
                                             .assistant_turn_id = "answer-of-" + name,
                                             .agent_id = "agent-1"}));
  }

  Task<> put(AskedCall call) {
    auto decided = co_await approvals.ask(std::move(call), stop);
    if (decided) {
      results.push_back(*std::move(decided));
    } else {
      ++not_put;
    }
  }

  /// Starts the calls, and returns the requests once all wait.
  Task<std::vector<PermissionRequest>> waiting_for(std::vector<AskedCall> calls) {
    const auto count = approvals.waiting({}).size() + not_put + calls.size();
    for (auto& call : calls) asking.spawn(put(std::move(call)));
    co_await until([this, count] { return approvals.waiting({}).size() + not_put >= count; });
    co_return approvals.waiting({});
  }
  Task<PermissionRequest> waiting_for(AskedCall call) {
    co_return (co_await waiting_for(std::vector{std::move(call)})).back();
  }

  Task<std::string> decide(std::string id, DecidePermission wanted) {
    return failure(approvals.decide(std::move(id), std::move(wanted)));
  }
  Task<> allow(AskedCall call, GrantScope scope) {
    const auto request = co_await waiting_for(std::move(call));
    co_await approvals.decide(request.id, {.decision = PermissionDecision::allow, .scope = scope});
  }

  Task<> close() {
    stop.request();
    co_await asking.join();
    for (const auto& run : runs) near.runs.withdraw(run);
    co_await approvals.stop();
    co_await near.runs.stop();
  }

  testing::threads::ThreadsFixture near;
  Approvals approvals;
  TaskGroup asking;
  StopSource stop;
  std::vector<ActiveRunPointer> runs;
  std::vector<PermissionRequest> results;
  std::size_t not_put = 0;
};

void with_approvals(std::function<Task<>(ApprovalsRoom&)> body, Approvals::Options options = {}) {
  testing::run([&](Loop& loop) -> Task<> {
    const testing::ScratchDirectory directory;
    ApprovalsRoom room(loop, directory, options);
    co_await body(room);
    co_await room.close();
  });
}

DecidePermission yes() { return {.decision = PermissionDecision::allow}; }
DecidePermission no(std::string reason) { return {.decision = PermissionDecision::deny, .reason = std::move(reason)}; }

TEST(Approvals, ReturnWhatAPersonDecided) {
  with_approvals([](ApprovalsRoom& room) -> Task<> {
    const auto asked = co_await room.waiting_for(command(room.new_run(), "git status -s"));
    EXPECT_EQ(asked.run_id + " " + asked.thread_id + " " + asked.agent, "run-0 thread builder");
    EXPECT_EQ(asked.target, "git status -s");
    EXPECT_EQ(asked.expires_at - asked.created_at, 10min);
    EXPECT_THAT(asked.scopes, ElementsAre(GrantScope::once, GrantScope::thread, GrantScope::agent));
    EXPECT_FALSE(asked.decision.has_value());
    EXPECT_THAT(room.near.heard.types, Contains("permission-requested"));
    room.near.clock.time += 1min;
    co_await room.approvals.decide(asked.id, no("not today"));
    co_await until([&] { return !room.results.empty(); });
    const auto& decided = room.results.at(0);
    EXPECT_EQ(decided.decision, PermissionDecision::deny);
    EXPECT_EQ(decided.decision_reason, "not today");
    EXPECT_EQ(decided.by, DecidedBy::person);
    EXPECT_EQ(decided.decided_at, room.near.clock.time);
    EXPECT_THAT(room.near.heard.types, Contains("permission-decided"));
    EXPECT_THAT(room.approvals.waiting({}), SizeIs(0));
  });
}

TEST(Approvals, ListWhatWaitsOldestFirst) {
  with_approvals([](ApprovalsRoom& room) -> Task<> {
    const auto run = room.new_run();
    const auto first = co_await room.waiting_for(command(run, "one"));
    const auto second = co_await room.waiting_for(command(room.new_run("other"), "two"));
    const auto third = co_await room.waiting_for(question(run));
    EXPECT_EQ(testing::threads::ids_of(room.approvals.waiting({})), (std::vector{first.id, second.id, third.id}));
    EXPECT_EQ(testing::threads::ids_of(room.approvals.waiting({"thread"})), (std::vector{first.id, third.id}));
  });
}

Task<> note(Task<std::string> deciding, std::vector<std::string>& said) {
  auto result = co_await std::move(deciding);
  said.push_back(std::move(result));
}

TEST(Approvals, AreDecidedExactlyOnceByTheFirstDecision) {
  with_approvals([](ApprovalsRoom& room) -> Task<> {
    const auto asked = co_await room.waiting_for(command(room.new_run()));
    std::vector<std::string> said;
    TaskGroup deciding(room.near.loop);
    deciding.spawn(note(room.decide(asked.id, yes()), said));
    deciding.spawn(note(room.decide(asked.id, no("")), said));
    deciding.spawn(note(room.decide(asked.id, yes()), said));
    co_await deciding.join();
    const std::string late = "409 permission request already decided";
    EXPECT_THAT(said, ::testing::UnorderedElementsAre("none", late, late));
    co_await until([&] { return !room.results.empty(); });
    EXPECT_EQ(room.results.at(0).decision, PermissionDecision::allow) << "the first of them";
    EXPECT_EQ(co_await room.decide(asked.id, yes()), late);
    EXPECT_EQ(co_await room.decide("another", yes()), "404 permission request not found");
  });
}

TEST(Approvals, WaitOnIfADecisionCannotBeStored) {
  with_approvals([](ApprovalsRoom& room) -> Task<> {
    const auto asked = co_await room.waiting_for(command(room.new_run()));
    for (int tries = 0; tries < 2; ++tries) {
      bool failed = false;
      try {
        co_await room.approvals.decide(asked.id, yes(), [](Connection&, const PermissionRequest&) {
          throw DiskFull(0, "database or disk is full");
        });
      } catch (const DiskFull&) {
        failed = true;
      }
      EXPECT_TRUE(failed);
      // What waits for the request has seen that it is not decided.
      co_await room.near.database.read([](Connection&) {});
      EXPECT_EQ(testing::threads::ids_of(room.approvals.waiting({})), std::vector{asked.id});
    }
    EXPECT_EQ(co_await room.decide(asked.id, yes()), "none");
    co_await until([&] { return !room.results.empty(); });
    EXPECT_EQ(room.results.at(0).decision, PermissionDecision::allow);
    EXPECT_EQ(room.results.at(0).by, DecidedBy::person);
  });
}

TEST(Approvals, TakeOnlyDecisionsThatTheRequestHas) {
  with_approvals([](ApprovalsRoom& room) -> Task<> {
    const std::string refused = "400 decision not possible";
    auto once = command(room.new_run(), "a; b");
    once.pattern.reset();
    const auto call = co_await room.waiting_for(std::move(once));
    EXPECT_EQ(co_await room.decide(call.id, {.decision = PermissionDecision::propose}), refused);
    EXPECT_EQ(co_await room.decide(call.id, {.decision = PermissionDecision::allow, .scope = GrantScope::thread}),
              refused);
    EXPECT_EQ(co_await room.decide(call.id, {.answer = "yes"}), refused);
    const auto form =
        parse_json(R"({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})")->get_object();
    const auto asked = co_await room.waiting_for(question(room.new_run(), form));
    EXPECT_EQ(co_await room.decide(asked.id, yes()), refused);
    EXPECT_EQ(co_await room.decide(asked.id, {.answer = json::object{{"n", "three"}}}), refused);
    EXPECT_EQ(co_await room.decide(asked.id, {.answer = json::object{{"n", 3}}}), "none");
  });
}

TEST(Approvals, EndAsDeniedAtTheirTimeout) {
  const auto nobody_decides = [](ApprovalsRoom& room) -> Task<> {
    room.asking.spawn(room.put(command(room.new_run())));
    co_await until([&] { return !room.results.empty(); });
    const auto& ended = room.results.at(0);
    EXPECT_EQ(ended.expires_at, room.near.clock.time + 20ms);
    EXPECT_EQ(ended.decision, PermissionDecision::deny);
    EXPECT_EQ(ended.by, DecidedBy::timeout);
    EXPECT_EQ(ended.decided_at, room.near.clock.time);
    EXPECT_EQ(co_await room.decide(ended.id, yes()), "409 permission request already decided");
    EXPECT_FALSE(room.runs.at(0)->person_waits.is_waiting());
    EXPECT_GE(room.runs.at(0)->person_waits.waited(), 20ms) << "what counts for no limit of the run";
  };
  with_approvals(nobody_decides, {.patience = 20ms});
}

TEST(Approvals, EndAsDeniedWhenTheRunIsStopped) {
  with_approvals([](ApprovalsRoom& room) -> Task<> {
    const auto asked = co_await room.waiting_for(command(room.new_run()));
    room.stop.request();
    co_await until([&] { return !room.results.empty(); });
    EXPECT_EQ(room.results.at(0).by, DecidedBy::stop);
    EXPECT_EQ(co_await room.decide(asked.id, yes()), "409 permission request already decided");
  });
}

TEST(Approvals, EndAsDeniedBeforeTheRunThroughWhichTheyWait) {
  with_approvals([](ApprovalsRoom& room) -> Task<> {
    const auto run = room.new_run();
    const auto asked = co_await room.waiting_for(command(run));
    const auto others = co_await room.waiting_for(command(room.new_run()));
    room.asking.spawn(room.put(command(run, "not stored yet")));
    co_await room.approvals.end_those_of(run);
    co_await until([&] { return room.results.size() + room.not_put == 2; });
    for (const auto& ended : room.results) EXPECT_EQ(ended.by, DecidedBy::stop);
    EXPECT_EQ(co_await room.decide(asked.id, yes()), "409 permission request already decided");
    EXPECT_EQ(testing::threads::ids_of(room.approvals.waiting({})), std::vector{others.id});
    EXPECT_FALSE((co_await room.approvals.ask(command(run), room.stop)).has_value()) << "nothing more waits through it";
  });
}

std::vector<AskedCall> commands(const ActiveRunPointer& run, int count) {
  return std::vector(static_cast<std::size_t>(count), command(run));
}

TEST(Approvals, OfARunAreTwentyAtMostThatWaitOrWereNotAllowed) {
  with_approvals([](ApprovalsRoom& room) -> Task<> {
    const auto run = room.new_run();
    const auto allowed = co_await room.waiting_for(commands(run, 21));
    EXPECT_THAT(allowed, SizeIs(Approvals::max_of_run));
    EXPECT_EQ(room.not_put, 1U);
    for (const auto& asked : allowed) EXPECT_EQ(co_await room.decide(asked.id, yes()), "none");
    EXPECT_FALSE(room.approvals.is_full(*run)) << "what was allowed does not count";
    const auto denied = co_await room.waiting_for(commands(run, 20));
    for (const auto& asked : denied) EXPECT_EQ(co_await room.decide(asked.id, no("")), "none");
    EXPECT_TRUE(room.approvals.is_full(*run)) << "what was refused does";
    EXPECT_FALSE(room.approvals.is_full(*room.new_run()));
  });
}

TEST(Approvals, AreTwoHundredAtMost) {
  with_approvals([](ApprovalsRoom& room) -> Task<> {
    std::vector<PermissionRequest> asked;
    for (int i = 0; i < 10; ++i) asked = co_await room.waiting_for(commands(room.new_run(), 20));
    EXPECT_THAT(asked, SizeIs(Approvals::max_waiting));
    const auto another = room.new_run();
    EXPECT_TRUE(room.approvals.is_full(*another));
    co_await room.waiting_for(command(another));
    EXPECT_EQ(room.not_put, 1U);
    co_await room.decide(asked.at(0).id, yes());
    EXPECT_FALSE(room.approvals.is_full(*another));
  });
}

TEST(Approvals, AreNotMadeIfTheyAreTooLongToBeShown) {
  with_approvals([](ApprovalsRoom& room) -> Task<> {
    auto call = command(room.new_run());
    call.diff = std::string(Approvals::max_shown_size, '+');
    const auto result = co_await room.approvals.ask(std::move(call), room.stop);
    EXPECT_FALSE(result.has_value());
  });
}

TEST(Approvals, AreAnsweredByClientsThatSubscribeToTheThread) {
  with_approvals([](ApprovalsRoom& room) -> Task<> {
    EXPECT_FALSE(room.approvals.can_be_answered("thread"));
    Person person("thread");
    const Hub::Listening listening(room.near.hub, person);
    EXPECT_TRUE(room.approvals.can_be_answered("thread"));
    EXPECT_FALSE(room.approvals.can_be_answered("other"));
    co_return;
  });
}

TEST(Approvals, AreTurnedOffForAllAgentsOrForOne) {
  const Extension usual{.id = "1"};
  const Extension quiet{.id = "2", .definition = json::object{{"approvals", "never"}}};
  with_approvals([&](ApprovalsRoom& room) -> Task<> {
    EXPECT_TRUE(room.approvals.asks(usual));
    EXPECT_FALSE(room.approvals.asks(quiet));
    co_return;
  });
  with_approvals(
      [&](ApprovalsRoom& room) -> Task<> {
        EXPECT_FALSE(room.approvals.asks(usual));
        co_return;
      },
      {.asks = false});
}

/// Tool and pattern of each grant.
std::vector<std::string> held(const Approvals& approvals, std::string_view agent, std::string_view thread) {
  std::vector<std::string> found;
  const auto grants = approvals.grants_for(agent, thread);
  for (const auto& grant : grants ? *grants : std::vector<GrantedPattern>())
    found.push_back(grant.tool + " " + grant.pattern);
  return found;
}

TEST(Grants, HoldForTheThreadOrForTheAgent) {
  with_approvals([](ApprovalsRoom& room) -> Task<> {
    co_await room.allow(command(room.new_run()), GrantScope::once);
    EXPECT_THAT(room.approvals.grants_of("agent-1"), SizeIs(0));
    co_await room.allow(command(room.new_run()), GrantScope::thread);
    EXPECT_THAT(held(room.approvals, "agent-1", "thread"), ElementsAre("Bash git status *"));
    EXPECT_THAT(held(room.approvals, "agent-1", "other"), SizeIs(0));
    EXPECT_THAT(held(room.approvals, "agent-2", "thread"), SizeIs(0));
    co_await room.allow(command(room.new_run()), GrantScope::thread);
    EXPECT_THAT(room.approvals.grants_of("agent-1"), SizeIs(1)) << "the same once more is nothing new";
    co_await room.allow(command(room.new_run()), GrantScope::agent);
    EXPECT_THAT(held(room.approvals, "agent-1", "other"), ElementsAre("Bash git status *"));
    const auto grants = room.approvals.grants_of("agent-1");
    EXPECT_EQ(co_await failure(room.approvals.revoke("agent-2", grants.at(1).id)), "404 grant not found");
    co_await room.approvals.revoke("agent-1", grants.at(1).id);
    EXPECT_THAT(held(room.approvals, "agent-1", "other"), SizeIs(0));
    EXPECT_EQ(co_await failure(room.approvals.revoke("agent-1", grants.at(1).id)), "404 grant not found");
  });
}

TEST(Grants, EndWithTheThreadThatIsArchivedAndWithTheirAgent) {
  with_approvals([](ApprovalsRoom& room) -> Task<> {
    const auto thread = co_await room.near.threads.create({.agent_id = "builder"});
    co_await room.allow(command(room.new_run(thread.id)), GrantScope::thread);
    co_await room.allow(command(room.new_run(thread.id)), GrantScope::agent);
    co_await room.near.threads.change(thread.id, {.archived = true});
    EXPECT_THAT(room.approvals.grants_of("agent-1"), SizeIs(1));
    const Extension agent{.id = "agent-1", .type = ExtensionType::agent, .name = "builder"};
    room.near.hub.publish({.name = "extension.deleted", .record = RecordView(agent)});
    EXPECT_THAT(room.approvals.grants_of("agent-1"), SizeIs(0));
  });
}

Task<> allow_for_agent(ApprovalsRoom& room, std::string id, std::string expected_failure) {
  const DecidePermission wanted{.decision = PermissionDecision::allow, .scope = GrantScope::agent};
  EXPECT_EQ(co_await room.decide(std::move(id), wanted), expected_failure);
}

TEST(Grants, AreNotGivenForAnAgentThatWasDeletedBeforeOrDuringTheDecision) {
  with_approvals([](ApprovalsRoom& room) -> Task<> {
    const Extension agent{.id = "agent-1", .type = ExtensionType::agent, .name = "builder"};
    const auto before = co_await room.waiting_for(command(room.new_run()));
    room.near.hub.publish({.name = "extension.deleted", .record = RecordView(agent)});
    co_await allow_for_agent(room, before.id, "400 decision not possible");
    EXPECT_EQ(co_await room.decide(before.id, yes()), "none");

    const auto during = co_await room.waiting_for(command(room.new_run()));
    room.asking.spawn(allow_for_agent(room, during.id, "none"));
    // It waits no more once its decision is being stored.
    co_await until([&room] { return room.approvals.waiting({}).empty(); });
    room.near.hub.publish({.name = "extension.deleted", .record = RecordView(agent)});
    co_await until([&room] { return room.results.size() == 2; });
    EXPECT_THAT(room.approvals.grants_of("agent-1"), SizeIs(0));
    co_await room.approvals.stop();
    co_await room.approvals.refresh();
    EXPECT_THAT(room.approvals.grants_of("agent-1"), SizeIs(0)) << "nor is one stored";
  });
}

AskedCall call_of(ActiveRunPointer run, std::string tool) {
  auto call = command(std::move(run));
  call.tool = std::move(tool);
  return call;
}

TEST(Grants, EndWhenTheNameOfTheirToolIsGivenUpOrTaken) {
  with_approvals([](ApprovalsRoom& room) -> Task<> {
    for (const auto* tool : {"publish", "shop__buy", "other", "publish-all"})
      co_await room.allow(call_of(room.new_run(), tool), GrantScope::agent);
    const auto waits = co_await room.waiting_for(call_of(room.new_run(), "shop__sell"));
    const Extension action{.id = "1", .type = ExtensionType::action, .name = "other"};
    const Extension shop{.id = "2", .type = ExtensionType::integration, .name = "store"};
    room.near.hub.publish({.name = "extension.updated", .record = RecordView(action)});
    EXPECT_THAT(room.approvals.grants_of("agent-1"), SizeIs(4)) << "it kept its name";
    room.near.hub.publish({.name = "extension.updated", .record = RecordView(action), .former_name = "publish"});
    EXPECT_THAT(held(room.approvals, "agent-1", "thread"),
                ElementsAre("shop__buy git status *", "publish-all git status *"));
    room.near.hub.publish({.name = "extension.updated", .record = RecordView(shop), .former_name = "shop"});
    EXPECT_THAT(held(room.approvals, "agent-1", "thread"), ElementsAre("publish-all git status *"));
    co_await allow_for_agent(room, waits.id, "400 decision not possible");
  });
}

TEST(Grants, EndWithAnIntegrationWhoseLongNameIsCutInTheNamesOfItsTools) {
  with_approvals([](ApprovalsRoom& room) -> Task<> {
    const Extension integration{.id = "1", .type = ExtensionType::integration, .name = std::string(60, 'i')};
    co_await room.allow(call_of(room.new_run(), tool_name_of(integration.name, "buy")), GrantScope::agent);
    room.near.hub.publish({.name = "extension.deleted", .record = RecordView(integration)});
    EXPECT_THAT(room.approvals.grants_of("agent-1"), SizeIs(0));
  });
}

/// Makes deletions of grants fail while it is set.
Task<> set_failing(ApprovalsRoom& room, bool fails) {
  co_await room.near.database.write([fails](Connection& connection) {
    connection.execute(fails ? "CREATE TRIGGER full BEFORE DELETE ON grants BEGIN SELECT RAISE(ABORT, 'full'); END"
                             : "DROP TRIGGER full");
  });
}

Task<std::size_t> stored_grants(ApprovalsRoom& room) {
  co_return co_await room.near.database.read([](Connection& connection) {
    auto row = connection.prepare("SELECT count(*) FROM grants");
    row.step();
    return static_cast<std::size_t>(row.integer(0));
  });
}

TEST(Grants, StayInForceIfRevokingThemFails) {
  with_approvals([](ApprovalsRoom& room) -> Task<> {
    co_await room.allow(command(room.new_run()), GrantScope::agent);
    const auto id = room.approvals.grants_of("agent-1").at(0).id;
    co_await set_failing(room, true);
    bool failed = false;
    try {
      co_await room.approvals.revoke("agent-1", id);
    } catch (const DatabaseError&) {
      failed = true;
    }
    EXPECT_TRUE(failed);
    EXPECT_THAT(room.approvals.grants_of("agent-1"), SizeIs(1));
    co_await set_failing(room, false);
    co_await room.approvals.revoke("agent-1", id);
    EXPECT_THAT(room.approvals.grants_of("agent-1"), SizeIs(0));
    EXPECT_EQ(co_await stored_grants(room), 0U);
  });
}

TEST(Grants, ThatHaveEndedAreDeletedOnceTheDatabaseCanBeWritten) {
  const auto ends_while_nothing_can_be_deleted = [](ApprovalsRoom& room) -> Task<> {
    co_await room.allow(command(room.new_run()), GrantScope::agent);
    co_await set_failing(room, true);
    const Extension agent{.id = "agent-1", .type = ExtensionType::agent, .name = "builder"};
    room.near.hub.publish({.name = "extension.deleted", .record = RecordView(agent)});
    co_await room.approvals.refresh();
    EXPECT_THAT(room.approvals.grants_of("agent-1"), SizeIs(0)) << "also if it is still stored";
    EXPECT_EQ(co_await stored_grants(room), 1U);
    co_await set_failing(room, false);
    while (co_await stored_grants(room) > 0) {
    }
  };
  with_approvals(ends_while_nothing_can_be_deleted, {.retry_after = 1ms});
}

}  // namespace
}  // namespace agw
