#include "features/terminals/terminal.hpp"

#include <signal.h>

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

/// Somebody's page: shows what comes, unless told not to.
class Page : public MessageSocket {
public:
  explicit Page(Loop& loop) : came_(loop) {}

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
    came_.pulse();
  }
  StopSource& stop_source() override { return stop_; }

  Task<> until_output(std::string_view text) {
    while (output.find(text) == std::string::npos) co_await came();
  }
  /// What came is shown, so that more can come.
  Task<> came() {
    co_await came_.wait();
    if (terminal && shows) terminal->note_shown(seq);
  }
  Terminal* terminal = nullptr;
  bool shows = true;
  std::string output;
  std::int64_t seq = 0;
  json::object last;

private:
  AsyncEvent came_;
  StopSource stop_;
};

struct Desk {
  Loop& loop;
  Terminal& terminal;
  Page& page;
};

class TerminalTest : public ::testing::Test {
protected:
  TerminalTest() { ::signal(SIGPIPE, SIG_IGN); }

  /// A terminal that runs `command` while `body` sits at it, and then ends.
  void with_terminal(const std::string& command, const std::function<Task<>(Desk)>& body) {
    testing::run([&](Loop& loop) -> Task<> {
      BlockingPool blocking(loop);
      Terminal terminal(loop, blocking, limits_,
                        {.process = {.arguments = {"setsid", "--ctty", "--wait", "sh", "-c", command},
                                     .environment = {"PATH=/usr/bin:/bin"},
                                     .directory = "/tmp"},
                         .exists = exists_},
                        DiskSpaceMonitor({}));
      Page page(loop);
      TerminalClient client(page);
      page.terminal = &terminal;
      TaskGroup living(loop);
      living.spawn(terminal.live());
      terminal.attach(client);
      co_await body({loop, terminal, page});
      if (stays_) terminal.detach(client);
      if (!stays_) terminal.end(TerminalEnd::closed);
      co_await living.join();
      end_ = terminal.reason();
      last_ = page.last;
    });
  }

  TerminalLimits limits_{.hangup_grace = 100ms};
  std::function<bool()> exists_;
  bool stays_ = false;  ///< the terminal, when its client has gone
  std::optional<TerminalEnd> end_;
  json::object last_;
};

TEST_F(TerminalTest, RunsAShell) {
  with_terminal("read word; echo $word$word; exit 3", [](Desk desk) -> Task<> {
    desk.terminal.type("ca\xC3\xA9\n");
    co_await desk.page.until_output(
        "ca\xC3\xA9"
        "ca\xC3\xA9");
    while (desk.page.last.empty()) co_await desk.page.came();
  });
  EXPECT_EQ(end_, TerminalEnd::exited);
  EXPECT_EQ(last_, (json::object{{"type", "closed"}, {"reason", "exited"}, {"exitCode", 3}}));
}

TEST_F(TerminalTest, AFloodWaitsForItsClient) {
  with_terminal("yes", [](Desk desk) -> Task<> {
    desk.page.shows = false;
    while (desk.page.seq < TerminalClient::max_ahead) co_await desk.page.came();
    for (int round = 0; round < 100; ++round) {
      const auto shown = desk.page.seq;
      desk.terminal.note_shown(shown);
      co_await desk.page.came();
      EXPECT_LE(desk.page.seq - shown, TerminalClient::max_ahead);
    }
    EXPECT_LE(desk.terminal.kept().size(), Terminal::max_kept);
  });
  EXPECT_EQ(end_, TerminalEnd::closed);
}

TEST_F(TerminalTest, WhoComesBackSeesWhatThereWas) {
  with_terminal("echo first; read word; echo second; read word", [](Desk desk) -> Task<> {
    co_await desk.page.until_output("first");
    Page other(desk.loop);
    TerminalClient client(other);
    other.terminal = &desk.terminal;
    EXPECT_THAT(desk.terminal.kept(), HasSubstr("first"));
    desk.terminal.attach(client);
    EXPECT_EQ(desk.page.last, (json::object{{"type", "closed"}, {"reason", "moved"}}));
    desk.terminal.type("\n");
    co_await other.until_output("second");
    desk.terminal.detach(client);
  });
}

TEST_F(TerminalTest, InputThatNobodyReadsIsRefusedInTheEnd) {
  with_terminal("stty raw -echo; echo ready; sleep 1000", [](Desk desk) -> Task<> {
    co_await desk.page.until_output("ready");
    desk.terminal.type(std::string(Terminal::max_input, 'x'));
    EXPECT_THROW(desk.terminal.type("x"), TooManyRequests);
  });
}

TEST_F(TerminalTest, EndsWhenNobodyComesBack) {
  limits_.alone = 0ms;
  stays_ = true;
  with_terminal("sleep 1000", [](Desk) -> Task<> { co_return; });
  EXPECT_EQ(end_, TerminalEnd::alone);
}

TEST_F(TerminalTest, EndsWhenNobodyUsesIt) {
  limits_.idle = 0ms;
  stays_ = true;
  with_terminal("sleep 1000", [](Desk) -> Task<> { co_return; });
  EXPECT_EQ(end_, TerminalEnd::idle);
}

TEST_F(TerminalTest, EndsInTheEnd) {
  limits_.lifetime = 0ms;
  stays_ = true;
  with_terminal("sleep 1000", [](Desk) -> Task<> { co_return; });
  EXPECT_EQ(end_, TerminalEnd::lifetime);
}

TEST_F(TerminalTest, EndsWithItsProject) {
  exists_ = [] { return false; };
  stays_ = true;
  with_terminal("trap '' HUP; sleep 1000", [](Desk) -> Task<> { co_return; });
  EXPECT_EQ(end_, TerminalEnd::deleted);
}

}  // namespace
}  // namespace agw
