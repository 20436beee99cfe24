#include "features/events/subscription.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

class SubscriptionTest : public ::testing::Test {
protected:
  bool matches(std::string_view type, std::string_view thread) {
    return subscription_.matches({.type = type, .thread_id = thread});
  }

  /// Returns the threads as the runs.
  struct Runs : LongText {
    explicit Runs(const Subscription::Threads& threads) : left(json::array(threads.begin(), threads.end())) {}
    std::string next() override { return left.empty() ? "" : to_json(json::value(std::exchange(left, {}))); }
    json::array left;
  };

  std::string take(std::string_view message, Subscription::Time now = std::chrono::steady_clock::now()) {
    auto answer = subscription_.take(message, now);
    if (!answer.runs) return answer.text;
    return answer.text + answer.runs->next() + "}";
  }

  Subscription subscription_{[](const auto* threads) { return std::make_unique<Runs>(*threads); }};
};

TEST_F(SubscriptionTest, WantsEveryThreadUntilTheFirstSubscribe) {
  EXPECT_TRUE(matches("text-delta", "a"));
  EXPECT_EQ(take(R"({"type":"unsubscribe","threadId":"a"})"), R"({"type":"subscribed","threadIds":[]})");
  EXPECT_TRUE(matches("text-delta", "a"));
  EXPECT_EQ(take(R"({"type":"subscribe","threadId":"a"})"), R"({"type":"subscribed","threadIds":["a"]})");
  EXPECT_TRUE(matches("text-delta", "a"));
  EXPECT_FALSE(matches("text-delta", "b"));
  EXPECT_TRUE(matches("extension-changed", ""));
  EXPECT_FALSE(matches("", "")) << "of which no client is told";
}

TEST_F(SubscriptionTest, AnEmptiedSetMeansNoThreadsEvents) {
  take(R"({"type":"subscribe","threadIds":["a","b"]})");
  EXPECT_EQ(take(R"({"type":"unsubscribe","threadIds":["a","b"]})"), R"({"type":"subscribed","threadIds":[]})");
  EXPECT_FALSE(matches("text-delta", "a"));
  EXPECT_TRUE(matches("signal", ""));
}

TEST_F(SubscriptionTest, ListsBringTheKindsThatListsShowOfAllThreads) {
  take(R"({"type":"subscribe","threadId":"a","lists":true})");
  for (const auto* kind : {"turn-created", "thread-updated", "job-started", "job-finished", "finish", "stopped"}) {
    EXPECT_TRUE(matches(kind, "b")) << kind;
  }
  EXPECT_FALSE(matches("text-delta", "b"));
}

TEST_F(SubscriptionTest, UnsubscribeTakesTheListsAway) {
  take(R"({"type":"subscribe","threadId":"a","lists":true})");
  EXPECT_EQ(take(R"({"type":"unsubscribe","lists":true})"), R"({"type":"subscribed","threadIds":["a"]})");
  EXPECT_FALSE(matches("turn-created", "b"));
  EXPECT_TRUE(matches("turn-created", "a"));
}

TEST_F(SubscriptionTest, ResumeCarriesWhatIsUnderWay) {
  EXPECT_EQ(take(R"({"type":"subscribe","threadId":"a","resume":true})"),
            R"({"type":"subscribed","threadIds":["a"],"runs":["a"]})");
}

TEST_F(SubscriptionTest, SaysWhatIsWrongWithItsThreads) {
  const auto said = [&](std::string_view members) {
    const auto answer = take(R"({"type":"subscribe")" + std::string(members) + "}");
    return std::string(parse_json(answer)->at("error").as_string());
  };
  EXPECT_EQ(said(R"(,"threadId":5)"), "threadId must be a string");
  EXPECT_EQ(said(R"(,"threadId":5,"lists":true)"), "threadId must be a string");
  EXPECT_EQ(said(R"(,"threadIds":["a",1])"), "threadIds[1] must be a string");
  EXPECT_EQ(said(R"(,"threadIds":"a")"), "threadIds must be an array of strings");
  EXPECT_EQ(said(R"(,"threadId":null)"), "threadId or threadIds is required");
  EXPECT_EQ(said(""), "threadId or threadIds is required");
}

TEST_F(SubscriptionTest, AnswersPingsAndNamesErrors) {
  EXPECT_EQ(take(R"({"type":"ping"})"), R"({"type":"pong"})");
  for (const auto* message : {"nonsense", "[]", "{}", R"({"type":5})", R"({"type":"dance"})", R"({"type":"subscribe"})",
                              R"({"type":"subscribe","threadId":5})", R"({"type":"subscribe","threadIds":[1]})"}) {
    EXPECT_EQ(take(message).find(R"({"type":"error","error":")"), 0u) << message;
  }
  EXPECT_TRUE(matches("text-delta", "a")) << "what was not understood changes nothing";
}

TEST_F(SubscriptionTest, SaysOnWhichDeviceItIsSeen) {
  const Subscription::Time now{std::chrono::hours(1)};
  EXPECT_EQ(take(R"({"type":"subscribe","device":"phone","visible":true})", now),
            R"({"type":"subscribed","threadIds":[]})");
  EXPECT_TRUE(subscription_.is_shown_on("phone", now));
  EXPECT_FALSE(subscription_.is_shown_on("desk", now));
  EXPECT_TRUE(matches("text-delta", "a")) << "which threads it hears is another matter";
  take(R"({"type":"subscribe","device":"phone","visible":false})", now);
  EXPECT_FALSE(subscription_.is_shown_on("phone", now));
}

TEST_F(SubscriptionTest, CountsAsSeenForAMinuteAfterItsLastMessage) {
  const Subscription::Time now{std::chrono::hours(1)};
  take(R"({"type":"subscribe","threadIds":[],"device":"phone","visible":true})", now);
  EXPECT_TRUE(subscription_.is_shown_on("phone", now + std::chrono::seconds(60)));
  EXPECT_FALSE(subscription_.is_shown_on("phone", now + std::chrono::seconds(61)));
  take(R"({"type":"ping"})", now + std::chrono::seconds(61));
  EXPECT_TRUE(subscription_.is_shown_on("phone", now + std::chrono::seconds(121)));
}

TEST_F(SubscriptionTest, RefusesADeviceWithoutAndWithTooLongAName) {
  for (const auto& name : {std::string(), std::string(129, 'x')}) {
    EXPECT_EQ(take(R"({"type":"subscribe","device":")" + name + R"("})"),
              R"({"type":"error","error":"device must have 1 to 128 bytes"})");
  }
  EXPECT_EQ(take(R"({"type":"subscribe","visible":true})"),
            R"({"type":"error","error":"threadId or threadIds is required"})");
}

}  // namespace
}  // namespace agw
