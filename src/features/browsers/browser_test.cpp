#include "features/browsers/browser.hpp"

#include <unistd.h>

#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/error.hpp"
#include "base/json/json_values.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Has one tab. Answers every command except inputs, ends at `https://crash`, asks something at `https://ask`, starts
/// 100 threads at `https://threads`, and at `https://close` shows one more picture and loses its tab. Its pictures are
/// A1AA, A3AA and so on, one for each start but the second. Some time after the third one, `late` follows.
constexpr auto pretended_browser = R"py(
import json, sys, threading, time
def say(**message): sys.stdout.write(json.dumps(message) + '\0')
def show(number, data):
    say(method='Page.screencastFrame', sessionId='S', params={
        'sessionId': number, 'data': data, 'metadata': {'timestamp': time.time()}})
starts = 0
is_late = False
read = b''
while b := sys.stdin.buffer.read1():
    *texts, read = (read + b).split(b'\0')
    for message in map(json.loads, texts):
        method, url = message['method'], message['params'].get('url')
        if method == 'Target.setAutoAttach':
            say(method='Target.attachedToTarget', params={'sessionId': 'S', 'targetInfo': {
                'targetId': 'T', 'type': 'page', 'title': 'a tab', 'url': 'about:blank'}})
        if method == 'Page.startScreencast':
            starts += 1
            if starts != 2: show(starts, f'A{starts}AA')
        if method == 'Page.screencastFrameAck': is_late = message['params']['sessionId'] == 3
        if method == 'Page.getNavigationHistory' and is_late: show(7, 'late')
        if method == 'Browser.close': sys.exit()
        if url == 'https://crash': sys.exit('out of memory')
        for _ in range(100 if url == 'https://threads' else 0):
            threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
        if url == 'https://ask':
            say(method='Page.javascriptDialogOpening', sessionId='S', params={'type': 'confirm', 'message': 'Sure?'})
        if url == 'https://close':
            show(9, 'last')
            say(method='Target.detachedFromTarget', params={'sessionId': 'S'})
        if not method.startswith('Input.'): say(id=message['id'], result={})
    sys.stdout.flush()
)py";

/// Shows every picture at once, and keeps its data.
class ShowingSocket : public MessageSocket {
public:
  explicit ShowingSocket(Loop& loop) : received(loop) {}
  Task<std::optional<std::string>> read() override { co_return std::nullopt; }
  void send(std::string_view message) override {
    const auto text = parse_json(message)->as_object();
    if (string_or_empty(text, "type") != "frame") return;
    pictures.push_back(string_or_empty(text, "data"));
    received.pulse();
  }
  StopSource& stop_source() override { return stop_; }

  std::vector<std::string> pictures;
  AsyncEvent received;

private:
  StopSource stop_;
};

class BrowserTest : public ::testing::Test {
protected:
  BrowserTest() { ::signal(SIGPIPE, SIG_IGN); }

  /// Runs `body` with a browser that is ready, and waits for the browser's end, which is `end_`.
  void with_browser(std::function<Task<>(Browser& browser)> body) {
    testing::run([&](Loop& loop) -> Task<> {
      loop_ = &loop;
      BlockingPool blocking(loop);
      Browser browser(loop, blocking, limits_,
                      {.process = {.arguments = {"/usr/bin/python3", "-c", pretended_browser},
                                   .environment = {},
                                   .directory = "/",
                                   .separate_stderr = true}},
                      DiskSpaceMonitor({}));
      TaskGroup life(loop);
      life.spawn(browser.live());
      co_await browser.wait_until_ready();
      co_await body(browser);
      co_await life.join();
      end_ = browser.reason();
    });
  }

  Loop* loop_ = nullptr;
  BrowserLimits limits_;
  StopSource never_;
  std::optional<BrowserEnd> end_;
};

TEST_F(BrowserTest, HasATabOnceItIsReady) {
  with_browser([this](Browser& browser) -> Task<> {
    EXPECT_EQ(browser.active_tab(), "T");
    EXPECT_EQ(browser.tabs().at(0).title, "a tab");
    co_await browser.navigate("https://example.org", never_);
    EXPECT_THROW(browser.select_tab("other"), NotFound);
    browser.end(BrowserEnd::closed);
  });
  EXPECT_EQ(end_, BrowserEnd::closed);
}

TEST_F(BrowserTest, RenewsPicturesUntilNoneFollows) {
  with_browser([this](Browser& browser) -> Task<> {
    ShowingSocket socket(*loop_);
    BrowserClient client(socket);
    browser.attach(client);
    for (std::int64_t shown = 1; shown <= 4; ++shown) {
      while (std::ssize(socket.pictures) < shown) co_await socket.received.wait();
      client.note_shown(shown);
      browser.note_shown();
    }
    EXPECT_THAT(socket.pictures, ElementsAre("A1AA", "A3AA", "late", "A4AA"));
    browser.detach(client);
    browser.end(BrowserEnd::closed);
  });
}

TEST_F(BrowserTest, TakesAClientWhileItHasNoTab) {
  with_browser([this](Browser& browser) -> Task<> {
    ShowingSocket slow_socket(*loop_);
    BrowserClient slow(slow_socket);
    browser.attach(slow);
    while (slow_socket.pictures.empty()) co_await slow_socket.received.wait();
    EXPECT_THROW(co_await browser.navigate("https://close", never_), BadGateway);
    EXPECT_TRUE(browser.tabs().empty());
    ShowingSocket socket(*loop_);
    BrowserClient client(socket);
    EXPECT_NO_THROW(browser.attach(client));
    browser.detach(client);
    browser.detach(slow);
    browser.end(BrowserEnd::closed);
  });
}

TEST_F(BrowserTest, RefusesInputThatThePageDoesNotTake) {
  with_browser([](Browser& browser) -> Task<> {
    for (int count = 0; count < 256; ++count) browser.send_input("Input.insertText", {}, false);
    EXPECT_THROW(browser.send_input("Input.insertText", {}, false), TooManyRequests);
    EXPECT_NO_THROW(browser.send_input("Input.dispatchMouseEvent", {}, true));
    browser.end(BrowserEnd::closed);
    co_return;
  });
}

TEST_F(BrowserTest, DismissesDialogsThatNobodySees) {
  with_browser([this](Browser& browser) -> Task<> {
    co_await browser.navigate("https://ask", never_);
    EXPECT_EQ(browser.dialog(), nullptr);
    EXPECT_EQ(browser.take_dismissed_dialog().value_or(BrowserDialog()).message, "Sure?");
    EXPECT_FALSE(browser.take_dismissed_dialog());
    browser.end(BrowserEnd::closed);
  });
}

TEST_F(BrowserTest, AnswersCallsWhenItCrashes) {
  with_browser([this](Browser& browser) -> Task<> {
    try {
      co_await browser.navigate("https://crash", never_);
      ADD_FAILURE();
    } catch (const ApiError& error) {
      EXPECT_THAT(error.error(), HasSubstr("the browser has ended"));
    }
  });
  EXPECT_EQ(end_, BrowserEnd::crashed);
}

TEST_F(BrowserTest, EndsWhenItHasTooManyProcesses) {
  if (::geteuid() != 0) GTEST_SKIP() << "for other users, the kernel refuses more";
  limits_.processes = 50;
  with_browser([this](Browser& browser) -> Task<> { co_await browser.navigate("https://threads", never_); });
  EXPECT_EQ(end_, BrowserEnd::processes);
}

TEST_F(BrowserTest, EndsWhenIdle) {
  limits_.idle = 0ms;
  with_browser([](Browser&) -> Task<> { co_return; });
  EXPECT_EQ(end_, BrowserEnd::idle);
}

TEST_F(BrowserTest, EndsWhenItIsOld) {
  limits_.lifetime = 0ms;
  with_browser([](Browser&) -> Task<> { co_return; });
  EXPECT_EQ(end_, BrowserEnd::lifetime);
}

}  // namespace
}  // namespace agw
