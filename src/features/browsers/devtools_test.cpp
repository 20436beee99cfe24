#include "features/browsers/devtools.hpp"

#include <memory>

#include <gtest/gtest.h>

#include "base/async/task_group.hpp"
#include "base/json/json_values.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;

/// Answers each command: `Fail` with an error, `Tell` with an event before the response, `Ignore` not at all, `Garbage`
/// with something else than JSON.
constexpr auto pretended_chromium = R"py(
import json, sys
read = b''
while b := sys.stdin.buffer.read1():
    *texts, read = (read + b).split(b'\0')
    for message in map(json.loads, texts):
        answer = {'id': message['id'], 'result': {'method': message['method'], **message['params']}}
        out = [answer]
        if message['method'] == 'Fail': out = [{'id': message['id'], 'error': {'message': 'no'}}]
        if message['method'] == 'Tell': out = [{'method': 'Told', 'sessionId': message['sessionId'], 'params': {}}, answer]
        if message['method'] == 'Ignore': out = []
        for each in out: sys.stdout.write(json.dumps(each) + '\0')
        if message['method'] == 'Garbage': sys.stdout.write('}\0')
    sys.stdout.flush()
)py";

class DevToolsTest : public ::testing::Test {
protected:
  /// Runs `body`, and returns what reading ended with.
  std::string with_devtools(std::function<Task<>(DevTools& devtools)> body) {
    std::string end;
    testing::run([&](Loop& loop) -> Task<> {
      Process process(
          loop, {.arguments = {"/usr/bin/python3", "-c", pretended_chromium}, .environment = {}, .directory = "/"});
      DevTools devtools(loop, process, [this](const std::string& session, std::string_view method, json::object&) {
        events_.push_back(session + " " + std::string(method));
      });
      TaskGroup group(loop);
      group.on_failure([&](const std::exception_ptr& failure) {
        try {
          std::rethrow_exception(failure);
        } catch (const std::exception& error) {
          end = error.what();
        }
        devtools.end();
      });
      group.spawn(devtools.read_all());
      group.spawn(devtools.write_all());
      co_await body(devtools);
      devtools.end();
      co_await process.end(0ms);
      group.cancel();
      co_await group.join();
    });
    return end;
  }

  std::vector<std::string> events_;
};

TEST_F(DevToolsTest, ConnectsResponsesWithCommands) {
  with_devtools([](DevTools& devtools) -> Task<> {
    const auto response = co_await devtools.call("tab", "Greet", {{"name", "a"}});
    EXPECT_EQ(object_or_empty(response, "result"), (json::object{{"method", "Greet"}, {"name", "a"}}));
    const auto refusal = co_await devtools.call({}, "Fail", {});
    EXPECT_EQ(string_or_empty(object_or_empty(refusal, "error"), "message"), "no");
  });
}

TEST_F(DevToolsTest, PassesEvents) {
  with_devtools([](DevTools& devtools) -> Task<> { co_await devtools.call("tab", "Tell", {}); });
  EXPECT_EQ(events_, std::vector<std::string>{"tab Told"});
}

TEST_F(DevToolsTest, PassesLongMessages) {
  with_devtools([](DevTools& devtools) -> Task<> {
    const std::string text(1'000'000, 'x');
    const auto response = co_await devtools.call({}, "Long", {{"text", text}});
    EXPECT_EQ(string_or_empty(object_or_empty(response, "result"), "text"), text);
  });
}

TEST_F(DevToolsTest, AnswersCommandsOfAClosedTab) {
  with_devtools([](DevTools& devtools) -> Task<> {
    std::string why;
    devtools.post("tab", "Ignore", {}, [&why](json::object& response) {
      why = string_or_empty(object_or_empty(response, "error"), "message");
    });
    devtools.drop("tab");
    EXPECT_EQ(why, "the tab was closed");
    co_return;
  });
}

TEST_F(DevToolsTest, AnswersEverythingAtItsEnd) {
  with_devtools([](DevTools& devtools) -> Task<> {
    int answers = 0;
    const auto count = [&answers](json::object& response) { answers += response.contains("error") ? 1 : 0; };
    devtools.post({}, "Ignore", {}, count);
    devtools.end();
    devtools.post({}, "Ignore", {}, count);
    EXPECT_EQ(answers, 2);
    co_return;
  });
}

TEST_F(DevToolsTest, EndsWithAMessageThatIsNoJson) {
  const auto end = with_devtools([](DevTools& devtools) -> Task<> {
    co_await devtools.call({}, "Garbage", {});
    const auto response = co_await devtools.call({}, "Ignore", {});
    EXPECT_TRUE(response.contains("error"));
  });
  EXPECT_EQ(end, "Chromium has sent something else than a JSON object");
}

TEST(LoneSurrogates, AreReplaced) {
  EXPECT_EQ(without_lone_surrogates(R"("\ud83d\ude00 \ud83d \ude00 \ud83d\ud83d\ude00 \\ud83d \n")"),
            R"("\ud83d\ude00 \uFFFD \uFFFD \uFFFD\ud83d\ude00 \\ud83d \n")");
}

}  // namespace
}  // namespace agw
