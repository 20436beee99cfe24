#include "models/http_provider.hpp"

#include <functional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "testing/loopback_server.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;
using testing::LoopbackServer;
using Kind = ModelFailure::Kind;
using After = LoopbackServer::After;

constexpr std::string_view begin = "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\n";
constexpr std::string_view end =
    "data: {\"choices\":[{\"delta\":{\"content\":\"lo\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

std::string answer(int status, std::string_view type, std::string_view body, std::string_view headers = {}) {
  return fmt::format("HTTP/1.1 {} X\r\nContent-Type: {}\r\n{}Content-Length: {}\r\n\r\n{}", status, type, headers,
                     body.size(), body);
}

std::string stream(std::string_view body) { return answer(200, "text/event-stream", body); }

std::string beginning() { return fmt::format("HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n{}", begin); }

/// One call of a provider that sends the given bytes.
struct Call {
  ModelOutcome outcome;
  std::string text;
  std::vector<std::string> requests;
  bool closed = false;  ///< the client closed its connection

  const ModelFailure& failure() const { return std::get<ModelFailure>(outcome); }
};

struct Setting {
  After after = After::next_request;
  std::chrono::milliseconds silence = 1min;
  bool stop_at_first_delta = false;
  int calls = 1;
  std::function<std::string(int call)> model = [](int) { return "m"; };
};

Call call(std::vector<std::string> answers, Setting setting = {}) {
  Call made;
  testing::run([&](Loop& loop) -> Task<> {
    LoopbackServer server(loop, answers, setting.after);
    BlockingPool blocking(loop);
    HttpClient http(loop);
    HttpProvider provider(http, blocking,
                          {.name = "stub", .base_url = server.url("/v1"), .api_key = "top-secret-key-of-ours"},
                          setting.silence);
    StopSource stop;
    const OnDelta on_delta = [&](const Delta& delta) {
      made.text += delta.text;
      if (setting.stop_at_first_delta) stop.request();
    };
    ModelRequest request;
    request.temperature = 0.5;
    for (int i = 0; i < setting.calls; ++i) {
      request.model = setting.model(i);
      made.outcome = co_await provider.answer(request, on_delta, stop);
    }
    if (setting.after == After::wait) {
      co_await server.closed_by_client();
      made.closed = true;
    }
    for (std::size_t i = 0; i < server.requests(); ++i) made.requests.push_back(server.request(i));
    co_await server.close();
  });
  return made;
}

TEST(HttpProvider, StreamsAnAnswer) {
  const auto made = call({stream(std::string(begin) + std::string(end))});
  EXPECT_TRUE(std::holds_alternative<ModelReply>(made.outcome));
  EXPECT_EQ(made.text, "Hello");
  EXPECT_TRUE(made.requests.at(0).starts_with("POST /v1/chat/completions HTTP/1.1\r\n"));
  EXPECT_NE(made.requests.at(0).find("authorization: Bearer top-secret-key-of-ours\r\n"), std::string::npos);
}

TEST(HttpProvider, StopClosesTheConnection) {
  const auto made = call({beginning()}, {.after = After::wait, .stop_at_first_delta = true});
  EXPECT_EQ(made.failure().kind, Kind::stopped);
  EXPECT_EQ(made.text, "Hel");
  EXPECT_TRUE(made.closed);
}

TEST(HttpProvider, SilenceCountsAsABrokenConnection) {
  const auto made = call({beginning()}, {.after = After::wait, .silence = 1s});
  EXPECT_EQ(made.failure().kind, Kind::unavailable);
  EXPECT_EQ(made.failure().message, "stub fell silent: nothing came for 1 s");
  EXPECT_EQ(made.text, "Hel");
}

TEST(HttpProvider, AnAnswerCutOffInItsMiddleIsAFailure) {
  const auto made = call({beginning()}, {.after = After::close});
  EXPECT_EQ(made.failure().kind, Kind::unavailable);
  EXPECT_EQ(made.failure().message, "stub broke off its answer: the connection broke in the middle of the answer");
  EXPECT_EQ(made.text, "Hel");
}

TEST(HttpProvider, AStreamThatEndsTooEarlyIsAFailure) {
  EXPECT_EQ(call({stream(begin)}).failure().message, "stub ended its answer too early");
}

TEST(HttpProvider, ErrorsHoldNoKey) {
  const auto made = call({answer(
      401, "application/json",
      R"({"error":{"message":"Incorrect API key provided: top-secret-key-of-ours","code":"invalid_api_key"}})")});
  EXPECT_EQ(made.failure().kind, Kind::refused);
  EXPECT_EQ(made.failure().message, "stub answered 401: Incorrect API key provided: [key] (check its API key)");
}

TEST(HttpProvider, ReportsHowLongToWait) {
  const auto made = call({answer(429, "application/json", "{}", "Retry-After: 3\r\n")});
  EXPECT_EQ(made.failure().kind, Kind::rate_limited);
  EXPECT_EQ(made.failure().retry_after, 3s);
}

TEST(HttpProvider, GarbageIsAFailureOfTheProtocol) {
  EXPECT_EQ(call({stream("data: {\"choices\": nonsense\n\n")}).failure().kind, Kind::protocol);
  EXPECT_EQ(call({answer(200, "text/html", "<html>log in</html>")}).failure().message,
            "stub sent a web page instead of an answer");
  EXPECT_EQ(call({"this is no HTTP\r\n\r\n"}, {.after = After::close}).failure().kind, Kind::unavailable);
}

TEST(HttpProvider, LearnsWhatAModelRefuses) {
  const auto refusal = answer(400, "application/json", R"({"error":{"message":"temperature is not supported"}})");
  const auto good = stream(end);
  const auto made = call({refusal, good, good}, {.calls = 2});
  EXPECT_TRUE(std::holds_alternative<ModelReply>(made.outcome));
  ASSERT_EQ(made.requests.size(), 3u);
  EXPECT_NE(made.requests[0].find("\"temperature\""), std::string::npos);
  EXPECT_EQ(made.requests[1].find("\"temperature\""), std::string::npos);
  EXPECT_EQ(made.requests[2].find("\"temperature\""), std::string::npos);
}

TEST(HttpProvider, ForgetsWhatOneOfTooManyModelsRefuses) {
  const auto refusal = answer(400, "application/json", R"({"error":{"message":"temperature is not supported"}})");
  std::vector<std::string> answers;
  for (int i = 0; i < 102; ++i) answers.insert(answers.end(), {refusal, stream(end)});
  const auto made = call(answers, {.calls = 102, .model = [](int i) { return fmt::format("m{}", 100 + i % 101); }});
  EXPECT_TRUE(std::holds_alternative<ModelReply>(made.outcome));
  ASSERT_EQ(made.requests.size(), 204u);
  EXPECT_NE(made.requests[202].find("\"temperature\""), std::string::npos);
}

TEST(HttpProvider, LowersALimitOnlyForTheRequestThatNeedsIt) {
  const auto refusal = answer(400, "application/json", R"({"error":{"message":"max_tokens must be at most 4096"}})");
  const auto good = stream(end);
  const auto made = call({refusal, good, good}, {.calls = 2});
  ASSERT_EQ(made.requests.size(), 3u);
  EXPECT_NE(made.requests[1].find("\"max_tokens\":4096"), std::string::npos);
  EXPECT_NE(made.requests[2].find("\"max_tokens\":8192"), std::string::npos);
}

TEST(HttpProvider, AdjustsWhatATemplateRefuses) {
  const auto refusal =
      answer(500, "application/json", R"({"error":{"message":"Jinja Exception: temperature must not be set"}})");
  const auto made = call({refusal, stream(end)});
  EXPECT_TRUE(std::holds_alternative<ModelReply>(made.outcome));
}

}  // namespace
}  // namespace agw
