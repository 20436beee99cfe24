#include "models/retry.hpp"

#include <functional>

#include <gtest/gtest.h>

#include "testing/run.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;
using Kind = ModelFailure::Kind;

constexpr RetryPolicy quick{.first_delay = 1ms, .max_delay = 2ms};

ModelFailure failure(Kind kind, int status = 0, std::optional<std::chrono::milliseconds> retry_after = {}) {
  ModelFailure made;
  made.kind = kind;
  made.status = status;
  made.message = "failed";
  made.retry_after = retry_after;
  return made;
}

/// Returns the given outcomes, one per call, each after its text.
class Scripted : public Provider {
public:
  struct Step {
    ModelOutcome outcome;
    std::string text{};
  };

  explicit Scripted(std::vector<Step> steps) : steps_(std::move(steps)) {}

  Task<ModelOutcome> answer(const ModelRequest& request, const OnDelta& on_delta, StopSource&) override {
    models.push_back(request.model);
    if (on_request) on_request(request);
    const auto& step = steps_.at(models.size() - 1);
    if (!step.text.empty()) on_delta({Delta::Kind::text, step.text});
    if (during) during();
    co_return step.outcome;
  }

  std::vector<std::string> models;  ///< in the order of the calls
  std::function<void()> during;
  std::function<void(const ModelRequest&)> on_request;

private:
  std::vector<Step> steps_;
};

/// Runs a call to completion.
Completion ask(std::vector<ModelChoice> choices, StopSource& stop, RetryPolicy policy = quick,
               std::string* text = nullptr) {
  Completion completion;
  testing::run([&](Loop&) -> Task<> {
    const OnDelta on_delta = [&](const Delta& delta) {
      if (text) *text += delta.text;
    };
    completion = co_await answer_with_retries(choices, {}, on_delta, stop, policy);
  });
  return completion;
}

Completion ask(Scripted& provider, RetryPolicy policy = quick) {
  StopSource stop;
  return ask({{&provider, "p", "m"}}, stop, policy);
}

bool succeeded(const Completion& completion) { return std::holds_alternative<ModelReply>(completion.outcome); }

/// Makes embeddings at the third try.
class Embedding : public Scripted {
public:
  using Scripted::Scripted;
  Task<std::variant<json::object, ModelFailure>> embed(json::object body, StopSource&) override {
    bodies.push_back(std::move(body));
    if (bodies.size() < 3) co_return failure(Kind::rate_limited, 429);
    co_return json::object{{"data", json::array{}}};
  }
  std::vector<json::object> bodies;
};

TEST(Retries, AreMadeForEmbeddingsToo) {
  Embedding provider(std::vector<Scripted::Step>{});
  testing::run([&](Loop&) -> Task<> {
    StopSource stop;
    const ModelChoice choice{&provider, "p", "m"};
    const auto made = co_await embed_with_retries(choice, {{"model", "p/m"}, {"input", "x"}}, stop, quick);
    EXPECT_TRUE(std::holds_alternative<json::object>(made));
    const json::object sent{{"model", "m"}, {"input", "x"}};
    EXPECT_EQ(provider.bodies, std::vector<json::object>(3, sent));
    provider.bodies.clear();
    const auto failed = co_await embed_with_retries(choice, {{"input", "x"}}, stop, RetryPolicy{.retries = 0});
    EXPECT_EQ(std::get<ModelFailure>(failed).status, 429);
    EXPECT_EQ(provider.bodies.size(), 1U);
  });
}

TEST(Retries, TryAgainUntilItWorks) {
  Scripted provider({{failure(Kind::unavailable)},
                     {failure(Kind::rate_limited, 429)},
                     {failure(Kind::protocol)},
                     {failure(Kind::unavailable, 529)},
                     {ModelReply{}}});
  const auto completion = ask(provider);
  EXPECT_TRUE(succeeded(completion));
  EXPECT_EQ(completion.id(), "p/m");
  EXPECT_EQ(provider.models.size(), 5u);
}

TEST(Retries, GiveUpAfterFour) {
  Scripted provider(std::vector<Scripted::Step>(5, {failure(Kind::unavailable, 500)}));
  EXPECT_FALSE(succeeded(ask(provider)));
  EXPECT_EQ(provider.models.size(), 5u);
}

TEST(Retries, DoNotRepeatWhatIsRefused) {
  Scripted provider({{failure(Kind::refused, 401)}});
  EXPECT_FALSE(succeeded(ask(provider)));
  EXPECT_EQ(provider.models.size(), 1u);
}

TEST(Retries, EndWithTheFirstDelta) {
  Scripted provider({{failure(Kind::unavailable), "Hel"}});
  Scripted other({{ModelReply{}}});
  StopSource stop;
  std::string text;
  const auto completion = ask({{&provider, "p", "m"}, {&other, "q", "n"}}, stop, quick, &text);
  EXPECT_FALSE(succeeded(completion));
  EXPECT_EQ(text, "Hel");
  EXPECT_TRUE(other.models.empty());
}

TEST(Retries, GoOnToTheNextModel) {
  Scripted broken(std::vector<Scripted::Step>(4, {failure(Kind::unavailable)}));
  Scripted working({{ModelReply{}}});
  StopSource stop;
  auto policy = quick;
  policy.retries = 1;
  const auto completion = ask({{&broken, "p", "m"}, {&broken, "p", "n"}, {&working, "r", "o"}}, stop, policy);
  EXPECT_TRUE(succeeded(completion));
  EXPECT_EQ(completion.id(), "r/o");
  EXPECT_EQ(broken.models, (std::vector<std::string>{"m", "m", "n", "n"}));
}

TEST(Retries, AskAnotherModelWhereTheQuotaIsUsedUp) {
  Scripted first({{failure(Kind::refused, 429)}});
  Scripted second({{ModelReply{}}});
  StopSource stop;
  EXPECT_EQ(ask({{&first, "p", "m"}, {&second, "q", "n"}}, stop).id(), "q/n");
  EXPECT_EQ(first.models.size(), 1u);
}

TEST(Retries, AskAnotherModelWhereAServiceThatIsDownWantsNoOtherTry) {
  Scripted first({{failure(Kind::refused, 529)}});
  Scripted second({{ModelReply{}}});
  StopSource stop;
  EXPECT_EQ(ask({{&first, "p", "m"}, {&second, "q", "n"}}, stop).id(), "q/n");
  EXPECT_EQ(first.models.size(), 1u);
}

TEST(Retries, CountWhatEveryTryUsed) {
  auto failed = failure(Kind::unavailable);
  failed.usage.input_tokens = 3;
  ModelReply reply;
  reply.usage.input_tokens = 4;
  Scripted provider({{failed}, {failed}, {reply}});
  EXPECT_EQ(ask(provider).usage().input_tokens, 10);
}

TEST(Retries, ReportAllFailures) {
  Scripted first({{failure(Kind::refused, 429)}});
  Scripted second({{failure(Kind::refused, 401)}});
  StopSource stop;
  const auto completion = ask({{&first, "p", "m"}, {&second, "q", "n"}}, stop);
  EXPECT_EQ(std::get<ModelFailure>(completion.outcome).message, "failed; failed");
  EXPECT_EQ(std::get<ModelFailure>(completion.outcome).status, 401);
}

TEST(Retries, WaitAsLongAsTheProviderRequests) {
  Scripted provider({{failure(Kind::rate_limited, 429, 60ms)}, {ModelReply{}}});
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(succeeded(ask(provider)));
  EXPECT_GE(std::chrono::steady_clock::now() - start, 60ms);
}

TEST(Retries, DoNotWaitTooLong) {
  Scripted provider({{failure(Kind::rate_limited, 429, 1h)}});
  EXPECT_FALSE(succeeded(ask(provider)));
  EXPECT_EQ(provider.models.size(), 1u);
}

TEST(Retries, StopEndsTheDelay) {
  StopSource stop;
  Scripted provider({{failure(Kind::unavailable)}});
  provider.during = [&] { stop.request(); };
  const auto completion = ask({{&provider, "p", "m"}}, stop, {.first_delay = 1h, .max_delay = 1h});
  EXPECT_EQ(std::get<ModelFailure>(completion.outcome).kind, Kind::stopped);
}

TEST(Retries, LeaveABorrowedRequestAsItWas) {
  Scripted provider({{ModelReply{}}});
  std::int64_t limit = 0;
  std::int64_t ceiling = 0;
  std::size_t tools = 1;
  ModelRequest request;
  request.tools.resize(2);
  provider.on_request = [&](const ModelRequest& asked) {
    limit = asked.max_output_tokens;
    ceiling = asked.options.output_ceiling;
    tools = asked.tools.size();
  };
  testing::run([&](Loop&) -> Task<> {
    StopSource stop;
    const OnDelta ignore = [](const Delta&) {};
    const ModelChoice choice{.provider = &provider, .model = "m", .output_token_limit = 10, .takes_tools = false};
    co_await answer_borrowed({choice}, request, ignore, stop, quick);
  });
  EXPECT_EQ(limit, 10);
  EXPECT_EQ(ceiling, 10);
  EXPECT_EQ(tools, 0u);
  EXPECT_EQ(request.max_output_tokens, ModelRequest().max_output_tokens);
  EXPECT_EQ(request.options.output_ceiling, CallOptions().output_ceiling);
  EXPECT_EQ(request.tools.size(), 2u);
}

}  // namespace
}  // namespace agw
