#include "features/terminals/terminal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/error.hpp"
#include "base/async/task_group.hpp"
#include "base/json/json_values.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// A person's page: shows the output, unless `shows` is false.
class TerminalPage : public MessageSocket {
public:
  explicit TerminalPage(Loop& loop) : received_(loop) {}

  Task<std::optional<std::string>> read() override { co_return std::nullopt; }
  void send(std::string_view text) override {
    const auto message = parse_json(text)->get_object();
    const auto type = string_or_empty(message, "type");
    if (type == "output") {
      output += string_or_empty(message, "data");
      seq = message.at("seq").as_int64();
    } else {
      last = message;
    }
    received_.pulse();
  }
  StopSource& stop_source() override { return stop_; }

  Task<> until_output(std::string_view text) {
    while (output.find(text) == std::string::npos) co_await show_output();
  }
  /// Shows the received output, which allows the terminal to send more.
  Task<> show_output() {
    co_await received_.wait();
    if (terminal && shows) terminal->note_shown(seq);
  }
  Terminal* terminal = nullptr;
  bool shows = true;
  std::string output;
  std::int64_t seq = 0;
  json::object last;

private:
  AsyncEvent received_;
  StopSource stop_;
};

struct Session {
  Loop& loop;
  Terminal& terminal;
  TerminalPage& page;
};

class TerminalTest : public ::testing::Test {
protected:
  /// Runs `command` in a terminal with `body` as its client, and ends it.
  void with_terminal(const std::string& command, const std::function<Task<>(Session)>& body) {
    testing::run([&](Loop& loop) -> Task<> {
      BlockingPool blocking(loop);
      Terminal terminal(loop, blocking, limits_,
                        {.process = {.arguments = {"setsid", "--ctty", "--wait", "sh", "-c", command},
                                     .environment = {"PATH=/usr/bin:/bin"},
                                     .directory = "/tmp"},
                         .exists = exists_},
                        DiskSpaceMonitor({}));
      TerminalPage page(loop);
      TerminalClient client(page);
      page.terminal = &terminal;
      TaskGroup living(loop);
      living.spawn(terminal.live());
      terminal.attach(client);
      co_await body({loop, terminal, page});
      if (outlives_client_) terminal.detach(client);
      if (!outlives_client_) terminal.end(TerminalEnd::closed);
      co_await living.join();
      end_ = terminal.reason();
      last_ = page.last;
    });
  }

  TerminalLimits limits_{.hangup_grace = 100ms};
  std::function<bool()> exists_;
  bool outlives_client_ = false;  ///< whether the terminal continues without its client
  std::optional<TerminalEnd> end_;
  json::object last_;
};

TEST_F(TerminalTest, RunsAShell) {
  with_terminal("read word; echo $word$word; exit 3", [](Session session) -> Task<> {
    session.terminal.type("ca\xC3\xA9\n");
    co_await session.page.until_output(
        "ca\xC3\xA9"
        "ca\xC3\xA9");
    while (session.page.last.empty()) co_await session.page.show_output();
  });
  EXPECT_EQ(end_, TerminalEnd::exited);
  EXPECT_EQ(last_, (json::object{{"type", "closed"}, {"reason", "exited"}, {"exitCode", 3}}));
}

TEST_F(TerminalTest, OutputWaitsForASlowClient) {
  with_terminal("yes", [](Session session) -> Task<> {
    session.page.shows = false;
    while (session.page.seq < TerminalClient::max_ahead) co_await session.page.show_output();
    for (int round = 0; round < 100; ++round) {
      const auto shown = session.page.seq;
      session.terminal.note_shown(shown);
      co_await session.page.show_output();
      EXPECT_LE(session.page.seq - shown, TerminalClient::max_ahead);
    }
    EXPECT_LE(session.terminal.kept().size(), Terminal::max_kept);
  });
  EXPECT_EQ(end_, TerminalEnd::closed);
}

TEST_F(TerminalTest, AReconnectedClientSeesEarlierOutput) {
  with_terminal("echo first; read word; echo second; read word", [](Session session) -> Task<> {
    co_await session.page.until_output("first");
    TerminalPage other(session.loop);
    TerminalClient client(other);
    other.terminal = &session.terminal;
    EXPECT_THAT(session.terminal.kept(), HasSubstr("first"));
    session.terminal.attach(client);
    EXPECT_EQ(session.page.last, (json::object{{"type", "closed"}, {"reason", "moved"}}));
    session.terminal.type("\n");
    co_await other.until_output("second");
    session.terminal.detach(client);
  });
}

TEST_F(TerminalTest, UnreadInputIsRefusedAtALimit) {
  with_terminal("stty raw -echo; echo ready; sleep 1000", [](Session session) -> Task<> {
    co_await session.page.until_output("ready");
    session.terminal.type(std::string(Terminal::max_input, 'x'));
    EXPECT_THROW(session.terminal.type("x"), TooManyRequests);
  });
}

TEST_F(TerminalTest, EndsWithoutAReconnection) {
  limits_.alone = 0ms;
  outlives_client_ = true;
  with_terminal("sleep 1000", [](Session) -> Task<> { co_return; });
  EXPECT_EQ(end_, TerminalEnd::alone);
}

TEST_F(TerminalTest, EndsWhenIdle) {
  limits_.idle = 0ms;
  outlives_client_ = true;
  with_terminal("sleep 1000", [](Session) -> Task<> { co_return; });
  EXPECT_EQ(end_, TerminalEnd::idle);
}

TEST_F(TerminalTest, EndsInTheEnd) {
  limits_.lifetime = 0ms;
  outlives_client_ = true;
  with_terminal("sleep 1000", [](Session) -> Task<> { co_return; });
  EXPECT_EQ(end_, TerminalEnd::lifetime);
}

TEST_F(TerminalTest, EndsWithItsProject) {
  exists_ = [] { return false; };
  outlives_client_ = true;
  with_terminal("trap '' HUP; sleep 1000", [](Session) -> Task<> { co_return; });
  EXPECT_EQ(end_, TerminalEnd::deleted);
}

}  // namespace
}  // namespace agw
