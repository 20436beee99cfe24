#include <gtest/gtest.h>

#include "features/threads/service.hpp"
#include "testing/threads_fixture.hpp"

namespace agw {
namespace {

using namespace testing::threads;
using namespace std::chrono_literals;
using Texts = std::vector<std::string>;

TEST(Turns, AreCountedAndMoveTheirThread) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({});
    fixture.clock.time += 7ms;
    const auto turn = co_await fixture.say(thread.id, "hello");
    EXPECT_EQ(turn.created_at, fixture.clock.time);
    auto now = co_await fixture.threads.require(thread.id);
    EXPECT_EQ(now.turn_count, 1);
    EXPECT_EQ(now.updated_at, fixture.clock.time);
    fixture.clock.time += 7ms;
    co_await fixture.threads.remove_turn(turn.id);
    now = co_await fixture.threads.require(thread.id);
    EXPECT_EQ(now.turn_count, 0);
    EXPECT_EQ(now.updated_at, fixture.clock.time);
  });
}

TEST(Turns, AreAddedAllOrNone) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({});
    const auto turn = [](std::string thread_id, std::string content) {
      return AddTurn{.thread_id = std::move(thread_id), .role = Role::user, .content = std::move(content)};
    };
    co_await fixture.threads.add_turns({turn(thread.id, "one"), turn(thread.id, "two"), turn(thread.id, "three")});
    EXPECT_EQ(contents_of(co_await fixture.threads.turns(thread.id, {})), (Texts{"three", "two", "one"}));
    EXPECT_EQ(co_await failure(fixture.threads.add_turns({turn(thread.id, "four"), turn("none", "five")})),
              "404 thread not found");
    EXPECT_EQ((co_await fixture.threads.require(thread.id)).turn_count, 3);
  });
}

TEST(Turns, AreKeptAsTheyWereGiven) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({});
    const auto turn = co_await fixture.threads.add_turn({.thread_id = thread.id,
                                                         .role = Role::tool,
                                                         .content = std::string("a\0b ü", 6),
                                                         .metadata = json::object{{"n", 1.5}, {"o", {{"x", nullptr}}}},
                                                         .id = "given"});
    EXPECT_EQ(turn.id, "given");
    EXPECT_EQ(to_json(co_await fixture.threads.require_turn("given")), to_json(turn));
    EXPECT_EQ(co_await fixture.threads.turns_text(thread.id, {}), "[" + to_json(turn) + "]");
    const auto plain = co_await fixture.say(thread.id, "");
    EXPECT_EQ((co_await fixture.threads.require_turn(plain.id)).metadata, std::nullopt);
  });
}

TEST(Turns, AreReadHoweverDeepTheirMetadataIs) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({});
    const auto question = co_await fixture.say(thread.id, "hello");
    const std::string levels(max_json_depth, '[');
    const auto input = parse_json(levels + std::string(max_json_depth, ']')).value();
    const auto turn = co_await fixture.threads.add_turn({.thread_id = thread.id,
                                                         .role = Role::tool,
                                                         .content = "deep",
                                                         .metadata = json::object{{"input", {{"in_reply_to", input}}}},
                                                         .in_reply_to = question.id});
    EXPECT_EQ(to_json(co_await fixture.threads.require_turn(turn.id)), to_json(turn));
    EXPECT_EQ(contents_of(co_await fixture.threads.search({.q = "deep", .agent_id = thread.agent_id})), Texts{"deep"});
    const auto fork = co_await fixture.threads.fork(thread.id, {});
    EXPECT_EQ((co_await fixture.threads.turns(fork.id, {})).at(0).metadata, turn.metadata);
    co_await fixture.threads.remove_turn(turn.id);
  });
}

TEST(Turns, AreListedStrictlyNewestFirstEvenWhenTheClockGoesBack) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({});
    co_await fixture.say(thread.id, "one");
    fixture.clock.time -= 1h;
    co_await fixture.say(thread.id, "two");
    co_await fixture.say(thread.id, "three");
    EXPECT_EQ(contents_of(co_await fixture.threads.turns(thread.id, {})), (Texts{"three", "two", "one"}));
  });
}

TEST(Turns, AreListedInPages) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({});
    const auto other = co_await fixture.threads.create({});
    for (const auto* text : {"one", "two", "three"}) co_await fixture.say(thread.id, text);
    const auto foreign = co_await fixture.say(other.id, "foreign");
    const auto page = co_await fixture.threads.turns(thread.id, {.limit = Limit{2}});
    EXPECT_EQ(contents_of(page), (Texts{"three", "two"}));
    EXPECT_EQ(contents_of(co_await fixture.threads.turns(thread.id, {.before = page.back().id})), Texts{"one"});
    for (const auto& id : {foreign.id, std::string("x")}) {
      EXPECT_EQ(co_await failure(fixture.threads.turns(thread.id, {.before = id})),
                "400 before must be a turn of this thread");
    }
  });
}

TEST(Turns, AreNarrowedByRoleAndTime) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({});
    const auto question = co_await fixture.say(thread.id, "question");
    fixture.clock.time += 1ms;
    co_await fixture.say(thread.id, "answer", Role::assistant);
    co_await fixture.say(thread.id, "result", Role::tool);
    EXPECT_EQ(contents_of(co_await fixture.threads.turns(thread.id, {.role = ListedRole::user})), Texts{"question"});
    EXPECT_EQ(contents_of(co_await fixture.threads.turns(thread.id, {.role = ListedRole::assistant})), Texts{"answer"});
    EXPECT_EQ(contents_of(co_await fixture.threads.turns(thread.id, {.since = question.created_at})),
              (Texts{"result", "answer"}));
  });
}

TEST(Turns, AreNotDeletedWhileInUse) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({});
    const auto turn = co_await fixture.say(thread.id, "hello");
    const auto run = fixture.runs.open({.id = "r", .thread_id = thread.id, .turn_id = turn.id});
    EXPECT_EQ(co_await failure(fixture.threads.remove_turn(turn.id)), "409 turn is in use");
    fixture.runs.withdraw(run);
    co_await fixture.threads.remove_turn(turn.id);
    EXPECT_EQ(co_await failure(fixture.threads.remove_turn(turn.id)), "404 turn not found");
  });
}

TEST(Turns, ArePublishedWithTheirThread) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({});
    fixture.heard.types.clear();
    const auto turn = co_await fixture.say(thread.id, "hello");
    EXPECT_EQ(fixture.heard.types, (Texts{"turn-created", "thread-updated"}));
    EXPECT_EQ(fixture.heard.last, R"({"type":"thread-updated","threadId":")" + thread.id + R"(","thread":)" +
                                      to_json(co_await fixture.threads.require(thread.id)) + "}");
  });
}

TEST(Turns, AreInOneTransactionWithAccompanyingWrites) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({});
    const InTransaction<Turn> refusing = [](Connection&, const Turn& turn) { throw Conflict(turn.content); };
    EXPECT_EQ(co_await failure(fixture.threads.add_turn({.thread_id = thread.id, .content = "no"}, refusing)),
              "409 no");
    EXPECT_EQ((co_await fixture.threads.require(thread.id)).turn_count, 0);
    EXPECT_EQ(co_await fixture.threads.turns_text(thread.id, {}), "[]");
  });
}

TEST(Turns, AreInsertedWithinAnothersWrite) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({});
    const auto prepared = fixture.threads.prepare({.thread_id = thread.id, .role = Role::user, .content = "hello"});
    const auto added = co_await fixture.database.write(
        [prepared](Connection& connection) { return Threads::insert_in(connection, prepared); });
    fixture.threads.announce(added);
    EXPECT_EQ(added.thread.turn_count, 1);
    EXPECT_EQ(to_json(co_await fixture.threads.require_turn(prepared.turn.id)), to_json(prepared.turn));
    EXPECT_EQ(fixture.heard.types.back(), "thread-updated");
  });
}

/// Adds an answer to `question`.
Task<Turn> answer(ThreadsFixture& fixture, const Turn& question, std::string content) {
  return fixture.threads.add_turn({.thread_id = question.thread_id,
                                   .role = Role::assistant,
                                   .content = std::move(content),
                                   .in_reply_to = question.id});
}

TEST(Context, HoldsTheTurnsThatFitOldestFirst) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({});
    for (const auto* text : {"11111", "22222", "33333"}) co_await fixture.say(thread.id, text);
    const auto last = co_await fixture.say(thread.id, "44444");
    const auto& id = last.id;
    EXPECT_EQ(contents_of((co_await fixture.threads.context(thread.id, id, 1000)).turns),
              (Texts{"11111", "22222", "33333", "44444"}));
    EXPECT_EQ(contents_of((co_await fixture.threads.context(thread.id, id, 14)).turns), (Texts{"33333", "44444"}));
    EXPECT_EQ(contents_of((co_await fixture.threads.context(thread.id, id, 0)).turns), Texts{"44444"});
  });
}

TEST(Context, LeavesOutSummarisedTurnsWhileTheSummaryIsValid) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({});
    const auto first = co_await fixture.say(thread.id, "first");
    const auto second = co_await fixture.say(thread.id, "second");
    co_await answer(fixture, first, "to the first");
    const auto third = co_await fixture.say(thread.id, "third");
    const auto to_first = (co_await fixture.threads.turns(thread.id, {})).at(1);
    const auto summarised = co_await fixture.database.read(
        [id = to_first.id](Connection& connection) { return Threads::summarise_up_to(connection, id); });
    EXPECT_EQ(summarised.count, 2);
    auto context = co_await fixture.threads.context(thread.id, third.id, 1000, summarised);
    EXPECT_EQ(contents_of(context.turns), (Texts{"second", "third"}));
    EXPECT_TRUE(context.is_whole && context.summary_holds);
    co_await fixture.threads.remove_turn(first.id);
    context = co_await fixture.threads.context(thread.id, third.id, 1000, summarised);
    EXPECT_EQ(context.turns.size(), 3u);
    EXPECT_FALSE(context.summary_holds);
  });
}

TEST(Context, HasNoSummaryOfTurnsThatWereSupersededByAsMany) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({});
    const auto question = co_await fixture.say(thread.id, "question");
    co_await answer(fixture, question, "poor answer");
    const auto later = co_await fixture.say(thread.id, "thanks");
    const auto summarised = co_await fixture.database.read(
        [id = later.id](Connection& connection) { return Threads::summarise_up_to(connection, id); });
    co_await fixture.threads.supersede_after(question.id);
    for (const auto* text : {"better answer", "with an example"}) co_await answer(fixture, question, text);
    const auto next = co_await fixture.say(thread.id, "next");
    const auto context = co_await fixture.threads.context(thread.id, next.id, 1000, summarised);
    EXPECT_EQ(contents_of(context.turns), (Texts{"question", "better answer", "with an example", "next"}));
    EXPECT_FALSE(context.summary_holds);
  });
}

TEST(Context, EndsWithTheQuestionAndHasAnswersAfterTheirs) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({});
    const auto first = co_await fixture.say(thread.id, "first");
    const auto second = co_await fixture.say(thread.id, "second");
    co_await fixture.say(thread.id, "third");
    co_await answer(fixture, first, "to the first");
    EXPECT_EQ(contents_of((co_await fixture.threads.context(thread.id, second.id, 1000)).turns),
              (Texts{"first", "to the first", "second"}));
  });
}

TEST(Context, LeavesOutWhatWasSuperseded) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({});
    const auto question = co_await fixture.say(thread.id, "question");
    const auto poor = co_await answer(fixture, question, "poor answer");
    const auto later = co_await fixture.say(thread.id, "thanks");
    co_await fixture.threads.supersede_after(question.id);
    EXPECT_TRUE((co_await fixture.threads.require_turn(poor.id)).metadata->at("superseded").as_bool());
    EXPECT_TRUE((co_await fixture.threads.require_turn(later.id)).metadata->at("superseded").as_bool());
    EXPECT_EQ((co_await fixture.threads.require_turn(question.id)).metadata, std::nullopt);
    co_await answer(fixture, question, "better answer");
    const auto next = co_await fixture.say(thread.id, "next");
    EXPECT_EQ(contents_of((co_await fixture.threads.context(thread.id, next.id, 1000)).turns),
              (Texts{"question", "better answer", "next"}));
  });
}

TEST(Context, KeepsAnswersOfEarlierQuestionsWhenALaterOneIsAnsweredAgain) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({});
    const auto first = co_await fixture.say(thread.id, "first");
    const auto second = co_await fixture.say(thread.id, "second");
    co_await answer(fixture, first, "to the first");
    co_await answer(fixture, second, "to the second");
    co_await fixture.threads.supersede_after(second.id);
    EXPECT_EQ(contents_of((co_await fixture.threads.context(thread.id, second.id, 1000)).turns),
              (Texts{"first", "to the first", "second"}));
  });
}

TEST(Context, SupersedesNothingWhenTheAccompanyingWriteFails) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({});
    const auto question = co_await fixture.say(thread.id, "question");
    const auto reply = co_await answer(fixture, question, "answer");
    const InTransaction<Turn> refusing = [](Connection&, const Turn&) { throw Conflict("turn is in use"); };
    EXPECT_EQ(co_await failure(fixture.threads.supersede_after(question.id, refusing)), "409 turn is in use");
    EXPECT_EQ((co_await fixture.threads.require_turn(reply.id)).metadata, std::nullopt);
  });
}

TEST(Context, FindsTheQuestionOfEveryKindOfTurn) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({});
    const auto system = co_await fixture.say(thread.id, "be kind", Role::system);
    const auto first = co_await fixture.say(thread.id, "first");
    const auto second = co_await fixture.say(thread.id, "second");
    const auto reply = co_await answer(fixture, first, "to the first");
    const auto inserted = co_await fixture.say(thread.id, "by hand", Role::assistant);
    EXPECT_EQ((co_await fixture.threads.question_of(first.id)).id, first.id);
    EXPECT_EQ((co_await fixture.threads.question_of(reply.id)).id, first.id);
    EXPECT_EQ((co_await fixture.threads.question_of(inserted.id)).id, second.id);
    EXPECT_EQ(co_await failure(fixture.threads.question_of(system.id)), "404 turn not found");
    EXPECT_EQ(co_await failure(fixture.threads.question_of("x")), "404 turn not found");
    co_await fixture.threads.remove_turn(second.id);
    const auto late = co_await answer(fixture, first, "again");
    EXPECT_EQ((co_await fixture.threads.answer_of(first.id))->id, late.id);
    EXPECT_EQ((co_await fixture.threads.answer_of(reply.id))->id, reply.id);
    co_await fixture.threads.remove_turn(late.id);
    EXPECT_EQ((co_await fixture.threads.answer_of(first.id))->id, reply.id);
  });
}

TEST(Context, ADeletedQuestionHasNoOtherInItsPlace) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({});
    const auto first = co_await fixture.say(thread.id, "first");
    EXPECT_EQ(co_await fixture.threads.answer_of(first.id), std::nullopt);
    const auto second = co_await fixture.say(thread.id, "second");
    const auto reply = co_await answer(fixture, second, "to the second");
    co_await fixture.threads.remove_turn(second.id);
    EXPECT_EQ(co_await failure(fixture.threads.question_of(reply.id)), "404 turn not found");
  });
}

TEST(Context, OfAForkAtASupersededTurnIsWhatItWasThen) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({});
    const auto history = [&](const std::string& last) -> Task<Texts> {
      const auto fork = co_await fixture.threads.fork(thread.id, {last});
      const auto next = co_await fixture.say(fork.id, "next");
      co_return contents_of((co_await fixture.threads.context(fork.id, next.id, 1000)).turns);
    };
    const auto first = co_await fixture.say(thread.id, "Q1");
    const auto a1 = co_await answer(fixture, first, "A1");
    const auto second = co_await fixture.say(thread.id, "Q2");
    const auto a2 = co_await answer(fixture, second, "A2");
    co_await fixture.threads.supersede_after(first.id);
    const auto a1b = co_await answer(fixture, first, "A1b");
    EXPECT_EQ(co_await history(a1.id), (Texts{"Q1", "A1", "next"}));
    EXPECT_EQ(co_await history(second.id), (Texts{"Q1", "A1", "Q2", "next"}));
    EXPECT_EQ(co_await history(a2.id), (Texts{"Q1", "A1", "Q2", "A2", "next"}));
    EXPECT_EQ(co_await history(a1b.id), (Texts{"Q1", "A1b", "next"}));
    co_await fixture.threads.supersede_after(first.id);
    EXPECT_EQ(co_await history(a1b.id), (Texts{"Q1", "A1b", "next"}));
    co_await answer(fixture, first, "A1c");
    EXPECT_EQ(co_await history(a1b.id), (Texts{"Q1", "A1b", "next"}));
    EXPECT_EQ(co_await history(a2.id), (Texts{"Q1", "A1", "Q2", "A2", "next"}));
  });
}

Task<Turn> edit(ThreadsFixture& fixture, const Turn& question, std::string content) {
  return fixture.threads.add_turn(
      {.thread_id = question.thread_id, .role = Role::user, .content = std::move(content), .replaces = question.id});
}

TEST(EditedQuestions, SupersedeTheOneBeforeAndAllAfterIt) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({});
    co_await answer(fixture, co_await fixture.say(thread.id, "hello"), "hi");
    const auto second = co_await fixture.say(thread.id, "Q");
    const auto reply = co_await answer(fixture, second, "A");
    const auto edited = co_await edit(fixture, second, "Q, edited");
    EXPECT_EQ(edited.metadata->at("replaces").as_string(), second.id);
    for (const auto& id : {second.id, reply.id})
      EXPECT_TRUE((co_await fixture.threads.require_turn(id)).metadata->contains("superseded"));
    EXPECT_EQ(contents_of((co_await fixture.threads.context(thread.id, edited.id, 1000)).turns),
              (Texts{"hello", "hi", "Q, edited"}));
    EXPECT_EQ((co_await fixture.threads.require(thread.id)).turn_count, 5);
  });
}

TEST(EditedQuestions, AreVersionsInAForkToo) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({});
    const auto history = [&](const std::string& last) -> Task<Texts> {
      const auto fork = co_await fixture.threads.fork(thread.id, {last});
      const auto next = co_await fixture.say(fork.id, "next");
      co_return contents_of((co_await fixture.threads.context(fork.id, next.id, 1000)).turns);
    };
    const auto first = co_await fixture.say(thread.id, "Q1");
    const auto a1 = co_await answer(fixture, first, "A1");
    const auto second = co_await edit(fixture, first, "Q2");
    const auto a2 = co_await answer(fixture, second, "A2");
    const auto third = co_await edit(fixture, second, "Q3");
    EXPECT_EQ(co_await history(a1.id), (Texts{"Q1", "A1", "next"}));
    EXPECT_EQ(co_await history(a2.id), (Texts{"Q2", "A2", "next"}));
    EXPECT_EQ(co_await history(third.id), (Texts{"Q3", "next"}));
    const auto fork = co_await fixture.threads.fork(thread.id, {third.id});
    const auto turns = co_await fixture.threads.turns(fork.id, {});
    EXPECT_EQ(turns.at(0).metadata->at("replaces").as_string(), turns.at(2).id);
  });
}

TEST(EditedQuestions, OfAnUnknownTurnAreRefused) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({});
    const auto question = co_await fixture.say(thread.id, "Q");
    co_await fixture.threads.remove_turn(question.id);
    EXPECT_EQ(co_await failure(edit(fixture, question, "Q2")), "404 turn not found");
    EXPECT_EQ((co_await fixture.threads.require(thread.id)).turn_count, 0);
  });
}

/// A question whose answer a message was steered into, and the question after it.
struct SteeredThread {
  Thread thread;
  Turn question;
  Turn steered;
  Turn answer;
  Turn next;
};

Task<SteeredThread> make_steered(ThreadsFixture& fixture, Texts before = {}) {
  SteeredThread made;
  made.thread = co_await fixture.threads.create({});
  for (const auto& text : before) co_await fixture.say(made.thread.id, text);
  made.question = co_await fixture.say(made.thread.id, "question");
  made.steered = co_await fixture.say(made.thread.id, "steered");
  const auto queued = co_await fixture.say(made.thread.id, "queued");
  co_await fixture.database.write(
      [made](Connection& connection) { Threads::steer(connection, made.steered.id, {made.question.id, "run", 1}); });
  made.answer = co_await fixture.threads.add_turn({.thread_id = made.thread.id,
                                                   .role = Role::assistant,
                                                   .content = "answer",
                                                   .metadata = json::object{{"run_id", "run"}},
                                                   .in_reply_to = made.question.id});
  made.next = queued;
  co_return made;
}

TEST(SteeredTurns, ArePartOfTheAnswer) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto made = co_await make_steered(fixture);
    const auto context = co_await fixture.threads.context(made.thread.id, made.next.id, 10'000);
    EXPECT_EQ(contents_of(context.turns), (Texts{"question", "steered", "answer", "queued"}));
    const auto own = co_await fixture.threads.context(made.thread.id, made.question.id, 10'000);
    EXPECT_EQ(contents_of(own.turns), Texts{"question"});
    EXPECT_EQ((co_await fixture.threads.answer_of(made.steered.id))->content, "answer");
  });
}

TEST(SteeredTurns, AreSupersededWithTheAnswer) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto made = co_await make_steered(fixture);
    co_await fixture.threads.supersede_after(made.question.id);
    EXPECT_TRUE((co_await fixture.threads.require_turn(made.steered.id)).metadata->contains("superseded"));
    EXPECT_TRUE((co_await fixture.threads.require_turn(made.next.id)).metadata->contains("superseded"));
  });
}

TEST(SteeredTurns, BecomeQuestionsAfterTheAnswer) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto made = co_await make_steered(fixture);
    const auto question = co_await fixture.threads.supersede_after(made.steered.id);
    EXPECT_EQ(to_json(*question.metadata), "{}");
    const auto context = co_await fixture.threads.context(made.thread.id, made.steered.id, 10'000);
    EXPECT_EQ(contents_of(context.turns), (Texts{"question", "answer", "steered"}));
  });
}

TEST(SteeredTurns, AreCopiedWithTheirPlace) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto made = co_await make_steered(fixture);
    co_await fixture.threads.supersede_after(made.question.id);
    const auto fork = co_await fixture.threads.fork(made.thread.id, {made.answer.id});
    const auto last = co_await fixture.say(fork.id, "and now?");
    const auto context = co_await fixture.threads.context(fork.id, last.id, 10'000);
    EXPECT_EQ(contents_of(context.turns), (Texts{"question", "steered", "answer", "queued", "and now?"}));
  });
}

TEST(OldTurns, DoNotEndInsideAnAnswer) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto made = co_await make_steered(fixture, {"first", "second"});
    constexpr std::size_t kept = 4;  // there is room for the steered message, but not for its question
    const auto old = co_await fixture.database.read(
        [made](Connection& connection) { return Threads::old_turns(connection, made.thread.id, kept); });
    EXPECT_EQ(old.value().next_question_id, made.next.id);
  });
}

TEST(EditedQuestions, MayReplaceASteeredMessage) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto made = co_await make_steered(fixture);
    const auto edited = co_await edit(fixture, made.steered, "steered, edited");
    const auto context = co_await fixture.threads.context(made.thread.id, edited.id, 10'000);
    EXPECT_EQ(contents_of(context.turns), (Texts{"question", "answer", "steered, edited"}));
  });
}

}  // namespace
}  // namespace agw
