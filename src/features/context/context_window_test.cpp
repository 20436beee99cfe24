#include "features/context/context_window.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "features/context/compaction.hpp"
#include "features/context/service.hpp"
#include "testing/threads_fixture.hpp"

namespace agw {
namespace {

using namespace testing::threads;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::string_view summary = "They spoke of otters.";

bool asks_for_summary(const ModelRequest& request) { return request.system.find("Sum it up") != std::string::npos; }

ModelReply calling(ToolUse use) { return {.stop = StopReason::tool_use, .tool_uses = {std::move(use)}}; }

ModelFailure too_long() {
  ModelFailure failure;
  failure.kind = ModelFailure::Kind::refused;
  failure.message = "too long";
  failure.status = 400;
  failure.too_long = true;
  return failure;
}

/// A failure after which the next model is called without a retry.
ModelFailure out_of_quota() {
  ModelFailure failure;
  failure.kind = ModelFailure::Kind::refused;
  failure.status = 429;
  return failure;
}

/// A model that returns a fixed summary or the result of `outcome`, and records the requests.
struct ScriptedProvider : Provider {
  std::function<ModelOutcome(const ModelRequest&)> outcome = [](const ModelRequest&) { return ModelReply{}; };
  std::vector<ModelRequest> requests;
  std::vector<ModelRequest> summary_requests;

  Task<ModelOutcome> answer(const ModelRequest& request, const OnDelta& on_delta, StopSource& /*stop*/) override {
    if (asks_for_summary(request)) {
      summary_requests.push_back(request);
      on_delta({.text = std::string(summary)});
      co_return ModelReply{};
    }
    requests.push_back(request);
    co_return outcome(request);
  }

  std::size_t last_size() const { return total_size(requests.back().messages); }
};

/// A thread whose last turn is the question, and two models: `large/vision` and, with half of its window,
/// `small/blind`.
struct ContextWindowFixture : ThreadsFixture {
  ContextWindowFixture(Loop& of_test, const testing::ScratchDirectory& directory)
      : ThreadsFixture(of_test, directory),
        attachments(blocking, database, clock, directory.path()),
        http(of_test),
        models(http, blocking, {}, Prices()),
        limits(models) {
    set_window("large", "vision", 16'000);
    set_window("small", "blind", 8'000);
  }

  void set_window(std::string provider, std::string model, std::int64_t tokens) {
    limits.lower({.outcome = ModelReply{}, .provider = std::move(provider), .model = std::move(model)}, tokens, 2'000);
  }

  /// Adds `count` questions of 3,000 bytes with answers, and one question without.
  Task<> talk(int count) {
    thread = co_await threads.create({.agent_id = "builder", .title = "otters"});
    for (int number = 0; number < count; ++number) {
      const auto text = " number " + std::to_string(number) + ". " + std::string(3'000, 'x');
      co_await say(thread.id, "question" + text);
      co_await say(thread.id, "answer" + text, Role::assistant);
    }
    run.turn_id = (co_await say(thread.id, "And now?")).id;
    run.thread_id = thread.id;
  }

  ContextWindow window() {
    return {{.blocking = blocking,
             .database = database,
             .clock = clock,
             .threads = threads,
             .models = models,
             .attachments = attachments,
             .limits = limits},
            run,
            std::make_shared<Extension>(),
            {{.provider = &large, .provider_name = "large", .model = "vision"},
             {.provider = &small, .provider_name = "small", .model = "blind"}},
            stop,
            [this](const Completion& completion) { usages.push_back(completion.id()); }};
  }

  Attachments attachments;
  HttpClient http;
  Models models;
  ModelLimits limits;
  ScriptedProvider large;
  ScriptedProvider small;
  StopSource stop;
  Thread thread;
  Run run;
  std::vector<std::string> usages;
};

void with_context_window(std::function<Task<>(ContextWindowFixture&)> body) {
  testing::run([&](Loop& loop) -> Task<> {
    const testing::ScratchDirectory directory;
    ContextWindowFixture fixture(loop, directory);
    co_await body(fixture);
  });
}

const OnDelta ignore_deltas = [](const Delta&) {};

TEST(ContextWindow, HoldsThePromptTheToolsAndTheConversation) {
  with_context_window([](ContextWindowFixture& fixture) -> Task<> {
    co_await fixture.talk(1);
    auto window = fixture.window();
    co_await window.load("Be kind.", {.offered = {{.name = "Read"}}});
    co_await window.ask(ignore_deltas);

    const auto& request = fixture.large.requests.at(0);
    EXPECT_EQ(request.system, "Be kind.");
    EXPECT_EQ(request.tools.at(0).name, "Read");
    EXPECT_EQ(request.max_output_tokens, 2'000);
    EXPECT_THAT(request.messages, SizeIs(3));
    EXPECT_EQ(request.messages.back().text, "And now?");
    EXPECT_THAT(fixture.usages, IsEmpty());
  });
}

/// Stores a thought of `model` for the first answer of `talk(1)`.
Task<> store_thought(ContextWindowFixture& fixture, std::string model) {
  const auto turns = co_await fixture.threads.turns(fixture.thread.id, {.limit = {3}});
  co_await fixture.database.write([thread = fixture.thread.id, turn = turns.at(1).id, model](Connection& connection) {
    store_thoughts(connection, thread, turn, model, {{1, model, {json::object{{"thinking", "Otters?"}}}}});
  });
}

TEST(ContextWindow, SendsEarlierThoughtsOfTheModelAgain) {
  with_context_window([](ContextWindowFixture& fixture) -> Task<> {
    co_await fixture.talk(1);
    co_await store_thought(fixture, "large/vision");
    auto window = fixture.window();
    co_await window.load("", {});
    const auto& answer = window.request().messages.at(1);
    EXPECT_EQ(to_json(answer.provider_blocks), R"([{"thinking":"Otters?"}])");
    EXPECT_EQ(answer.provider_blocks_of, "large/vision");
  });
}

TEST(ContextWindow, SendsNoThoughtsOfAnotherModel) {
  with_context_window([](ContextWindowFixture& fixture) -> Task<> {
    co_await fixture.talk(1);
    co_await store_thought(fixture, "small/blind");
    auto window = fixture.window();
    co_await window.load("", {});
    EXPECT_THAT(window.request().messages.at(1).provider_blocks, IsEmpty());
  });
}

TEST(ContextWindow, AsksWithoutThoughtsOnceTheirServiceHasRefusedThem) {
  with_context_window([](ContextWindowFixture& fixture) -> Task<> {
    co_await fixture.talk(1);
    co_await store_thought(fixture, "large/vision");
    fixture.large.outcome = [](const ModelRequest& request) -> ModelOutcome {
      if (request.messages.at(1).provider_blocks.empty()) return ModelReply{};
      return ModelFailure{.kind = ModelFailure::Kind::refused, .message = "invalid signature", .status = 400};
    };
    fixture.small.outcome = fixture.large.outcome;
    for (std::size_t run = 1; run <= 2; ++run) {
      auto window = fixture.window();
      co_await window.load("", {});
      const auto completion = co_await window.ask(ignore_deltas);
      EXPECT_TRUE(std::holds_alternative<ModelReply>(completion.outcome));
      EXPECT_THAT(fixture.large.requests, SizeIs(run + 1)) << "the second run does not send them";
    }
  });
}

TEST(ContextWindow, SummarisesWhatDoesNotFitOnceForAllRuns) {
  with_context_window([](ContextWindowFixture& fixture) -> Task<> {
    co_await fixture.talk(10);
    for (int run = 0; run < 2; ++run) {
      auto window = fixture.window();
      co_await window.load("", {});
      EXPECT_THAT(window.request().messages.at(0).text, EndsWith(summary));
      EXPECT_EQ(window.request().messages.back().text, "And now?");
      EXPECT_LT(total_size(window.request().messages), 13'000 * 3);
    }
    EXPECT_THAT(fixture.large.summary_requests, SizeIs(1));
    EXPECT_THAT(fixture.usages, ElementsAre("large/vision"));
  });
}

TEST(ContextWindow, ShrinksUntilTheModelAcceptsAndRemembersThat) {
  with_context_window([](ContextWindowFixture& fixture) -> Task<> {
    co_await fixture.talk(5);
    fixture.large.outcome = [](const ModelRequest& request) -> ModelOutcome {
      if (total_size(request.messages) > 5'000) return too_long();
      return ModelReply{};
    };
    auto window = fixture.window();
    co_await window.load("", {});
    const auto completion = co_await window.ask(ignore_deltas);

    EXPECT_TRUE(std::holds_alternative<ModelReply>(completion.outcome));
    EXPECT_THAT(fixture.large.requests, SizeIs(3));
    EXPECT_EQ(fixture.large.requests.back().messages.back().text, "And now?");
    EXPECT_LT(fixture.limits.of(window.model()).context_window, 5'000);
    EXPECT_THAT(fixture.small.requests, IsEmpty());
  });
}

TEST(ContextWindow, HalvesTheAnswerIfThatIsTheLargerPart) {
  with_context_window([](ContextWindowFixture& fixture) -> Task<> {
    co_await fixture.talk(0);
    fixture.large.outcome = [](const ModelRequest& request) -> ModelOutcome {
      if (request.max_output_tokens > 500) return too_long();
      return ModelReply{};
    };
    auto window = fixture.window();
    co_await window.load("", {});
    co_await window.ask(ignore_deltas);

    EXPECT_THAT(fixture.large.requests, SizeIs(3));
    EXPECT_EQ(fixture.limits.of(window.model()).max_output_tokens, 500);
    EXPECT_THAT(fixture.usages, ElementsAre("large/vision", "large/vision"));
  });
}

TEST(ContextWindow, ReturnsTheRefusalIfNothingCanBeLeftOut) {
  with_context_window([](ContextWindowFixture& fixture) -> Task<> {
    co_await fixture.talk(0);
    fixture.large.outcome = [](const ModelRequest&) { return too_long(); };
    auto window = fixture.window();
    co_await window.load("", {});
    const auto completion = co_await window.ask(ignore_deltas);

    EXPECT_EQ(std::get<ModelFailure>(completion.outcome).message, "too long");
    EXPECT_EQ(fixture.limits.of(window.model()).max_output_tokens, 2'000);
  });
}

TEST(ContextWindow, ShowsASmallerFallbackLessAndStoresNoSummaryForIt) {
  with_context_window([](ContextWindowFixture& fixture) -> Task<> {
    co_await fixture.talk(5);
    fixture.large.outcome = [](const ModelRequest&) { return out_of_quota(); };
    auto window = fixture.window();
    co_await window.load("", {});
    const auto completion = co_await window.ask(ignore_deltas);

    EXPECT_EQ(completion.id(), "small/blind");
    EXPECT_EQ(window.model().id(), "small/blind");
    EXPECT_THAT(fixture.large.requests.at(0).messages, SizeIs(11));
    EXPECT_LT(fixture.small.last_size(), 5'000 * 3);
    EXPECT_THAT(fixture.small.requests.at(0).messages.at(0).text, EndsWith(summary));

    auto next = fixture.window();
    co_await next.load("", {});
    EXPECT_THAT(next.request().messages, SizeIs(11));
  });
}

TEST(ContextWindow, KeepsTheStepsOfTheRunWhenItShrinks) {
  with_context_window([](ContextWindowFixture& fixture) -> Task<> {
    co_await fixture.talk(5);
    auto window = fixture.window();
    co_await window.load("", {});
    window.add_reply("large/vision", "Let me look.", calling({.id = "call-1", .name = "Read"}));
    window.add_results({{.role = Message::Role::tool, .text = "otters", .tool_call_id = "call-1"}});
    fixture.large.outcome = [](const ModelRequest& request) -> ModelOutcome {
      if (total_size(request.messages) > 20'000) return too_long();
      return ModelReply{};
    };
    co_await window.ask(ignore_deltas);

    const auto& messages = fixture.large.requests.back().messages;
    EXPECT_LT(total_size(messages), 20'000);
    EXPECT_THAT(messages.at(0).text, EndsWith(summary));
    EXPECT_EQ(messages.at(messages.size() - 2).text, "Let me look.");
    EXPECT_EQ(messages.back().text, "otters");
  });
}

TEST(ContextWindow, ShortensResultsThatDoNotFit) {
  with_context_window([](ContextWindowFixture& fixture) -> Task<> {
    co_await fixture.talk(0);
    auto window = fixture.window();
    co_await window.load("", {});
    for (const auto* id : {"call-1", "call-2"}) {
      window.add_reply("large/vision", "", calling({.id = id, .name = "Read"}));
      window.add_results({{.role = Message::Role::tool, .text = std::string(30'000, 'x'), .tool_call_id = id}});
    }
    EXPECT_THAT(window.request().messages.at(2).text, HasSubstr("bytes were left out here"));
    EXPECT_THAT(window.request().messages.at(4).text, SizeIs(30'000));
  });
}

TEST(ContextWindow, MakesCallsAcceptableToAllServices) {
  with_context_window([](ContextWindowFixture& fixture) -> Task<> {
    co_await fixture.talk(0);
    auto window = fixture.window();
    co_await window.load("", {});
    const auto first = window.add_reply("large/vision", "", calling({.id = "call 1", .name = "My Tool"}));
    const auto second = window.add_reply("large/vision", "", calling({.id = "call 1", .name = "My Tool"}));

    EXPECT_EQ(first.at(0).id, "call_1");
    EXPECT_EQ(first.at(0).name, "My_Tool");
    EXPECT_NE(second.at(0).id, first.at(0).id);
    EXPECT_EQ(window.request().messages.back().tool_uses.at(0).id, second.at(0).id);
  });
}

TEST(ContextWindow, AsksNoModelWithoutVisionAboutPicturesOfTools) {
  with_context_window([](ContextWindowFixture& fixture) -> Task<> {
    co_await fixture.talk(0);
    auto window = fixture.window();
    co_await window.load("", {});
    window.add_reply("large/vision", "", calling({.id = "call-1", .name = "Read"}));
    window.add_results({{.role = Message::Role::tool,
                         .text = "a.png",
                         .images = {{.mime = "image/png", .bytes = "\x89PNG"}},
                         .tool_call_id = "call-1",
                         .tool_name = "Read"}});
    EXPECT_THAT(window.request().messages.back().images, SizeIs(1));

    fixture.large.outcome = [](const ModelRequest&) { return out_of_quota(); };
    const auto completion = co_await window.ask(ignore_deltas);
    EXPECT_EQ(completion.id(), "large/vision");
    EXPECT_THAT(fixture.small.requests, IsEmpty());
  });
}

TEST(ContextWindow, ShowsASteeredMessageOnceAfterItShrinks) {
  with_context_window([](ContextWindowFixture& fixture) -> Task<> {
    co_await fixture.talk(5);
    fixture.run.id = "run";
    fixture.run.order = {{"text", "expanded"}};
    auto window = fixture.window();
    co_await window.load("", {});
    window.add_reply("large/vision", "Let me look.", calling({.id = "call-1", .name = "Read"}));
    window.add_results({{.role = Message::Role::tool, .text = "otters", .tool_call_id = "call-1"}});
    auto turn = co_await fixture.say(fixture.thread.id, "Only the otters.");
    turn = co_await fixture.database.write([turn, run = fixture.run](Connection& connection) {
      return Threads::steer(connection, turn.id, {run.turn_id, run.id, 1});
    });
    EXPECT_EQ(to_json(*turn.metadata), R"({"run_id":"run","after_step":1})");
    std::vector<UserMessage> steered;
    steered.push_back({turn, std::nullopt});
    co_await window.add_messages(std::move(steered));
    fixture.large.outcome = [](const ModelRequest& request) -> ModelOutcome {
      if (total_size(request.messages) > 20'000) return too_long();
      return ModelReply{};
    };
    co_await window.ask(ignore_deltas);

    const auto& messages = fixture.large.requests.back().messages;
    EXPECT_LT(total_size(messages), 20'000);
    EXPECT_EQ(messages.back().text, "Only the otters.");
    EXPECT_EQ(messages.at(messages.size() - 4).text, "expanded");
    EXPECT_EQ(std::ranges::count(messages, "Only the otters.", &Message::text), 1);
  });
}

}  // namespace
}  // namespace agw
