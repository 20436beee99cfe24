#include "io/process/pseudo_terminal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/process/process.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::run;

class PseudoTerminalTest : public ::testing::Test {
protected:
  /// A command with this controlling terminal.
  static ProcessOptions command_at(PseudoTerminal& terminal, const std::string& command) {
    return {.arguments = {"setsid", "--ctty", "--wait", "sh", "-c", command},
            .environment = {"PATH=/usr/bin:/bin"},
            .directory = "/tmp",
            .terminal = terminal.take_inner_side()};
  }

  static Task<> read_until(PseudoTerminal& terminal, std::string& output, std::string_view end) {
    while (output.find(end) == std::string::npos) {
      const auto bytes = co_await terminal.read();
      if (bytes.empty()) break;
      output += bytes;
    }
  }
};

TEST_F(PseudoTerminalTest, ProgramsSeeATerminal) {
  std::string output;
  run([&](Loop& loop) -> Task<> {
    PseudoTerminal terminal(loop, {.columns = 100, .rows = 30});
    Process process(loop, command_at(terminal, "test -t 0 && test -t 2 && stty size; read word; echo got $word"));
    co_await read_until(terminal, output, "\n");
    EXPECT_TRUE(co_await terminal.write("caf\xC3\xA9x\x7F\x7F\xC3\xA9\n"));
    co_await read_until(terminal, output, "no such text");
    EXPECT_EQ((co_await process.wait()).exit_code, 0);
  });
  EXPECT_THAT(output, HasSubstr("30 100\r\n"));
  EXPECT_THAT(output, EndsWith("got caf\xC3\xA9\r\n"));
}

TEST_F(PseudoTerminalTest, ProgramsAreNotifiedOfEachSize) {
  std::string output;
  run([&](Loop& loop) -> Task<> {
    PseudoTerminal terminal(loop, {});
    Process process(
        loop,
        command_at(terminal, "trap 'stty size' WINCH; echo ready; while :; do read word && echo got $word; done"));
    co_await read_until(terminal, output, "ready");
    terminal.resize({.columns = 132, .rows = 50});
    co_await read_until(terminal, output, "50 132");
    // A resize may send two signals. By this answer, both were handled.
    EXPECT_TRUE(co_await terminal.write("x\n"));
    co_await read_until(terminal, output, "got x");
    output.clear();
    terminal.resize({.columns = 132, .rows = 50});
    co_await read_until(terminal, output, "50 132");
    co_await process.end(std::chrono::seconds(60));
  });
  EXPECT_THAT(output, HasSubstr("50 132"));
}

TEST_F(PseudoTerminalTest, ClosingHangsUp) {
  run([&](Loop& loop) -> Task<> {
    PseudoTerminal terminal(loop, {});
    Process process(loop, command_at(terminal, "trap 'exit 7' HUP; echo ready; while read line; do :; done; exit 8"));
    std::string output;
    co_await read_until(terminal, output, "ready");
    terminal.close();
    EXPECT_THAT((co_await process.wait()).exit_code, ::testing::AnyOf(7, 8));
    EXPECT_FALSE(co_await terminal.write("x"));
  });
}

}  // namespace
}  // namespace agw
