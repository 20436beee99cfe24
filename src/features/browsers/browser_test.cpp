#include "features/browsers/browser.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/error.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// Has one tab. Answers every command except inputs, ends at `https://crash`, and asks something at `https://ask`.
constexpr auto pretended_browser = R"py(
import json, sys
def say(**message): sys.stdout.write(json.dumps(message) + '\0')
read = b''
while b := sys.stdin.buffer.read1():
    *texts, read = (read + b).split(b'\0')
    for message in map(json.loads, texts):
        method, url = message['method'], message['params'].get('url')
        if method == 'Target.setAutoAttach':
            say(method='Target.attachedToTarget', params={'sessionId': 'S', 'targetInfo': {
                'targetId': 'T', 'type': 'page', 'title': 'a tab', 'url': 'about:blank'}})
        if method == 'Browser.close': sys.exit()
        if url == 'https://crash': sys.exit('out of memory')
        if url == 'https://ask':
            say(method='Page.javascriptDialogOpening', sessionId='S', params={'type': 'confirm', 'message': 'Sure?'})
        if not method.startswith('Input.'): say(id=message['id'], result={})
    sys.stdout.flush()
)py";

class BrowserTest : public ::testing::Test {
protected:
  /// Runs `body` with a browser that is ready, and waits for the browser's end, which is `end_`.
  void with_browser(std::function<Task<>(Browser& browser)> body) {
    testing::run([&](Loop& loop) -> Task<> {
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
