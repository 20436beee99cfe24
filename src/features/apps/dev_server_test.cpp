#include "features/apps/dev_server.hpp"

#include <gtest/gtest.h>

#include "base/async/async_event.hpp"
#include "features/apps/health.hpp"
#include "testing/run.hpp"
#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;

/// A server started by a shell command without a sandbox, and its reported states.
struct Served {
  Served(Loop& loop, DevServerLimits limits)
      : changed(loop),
        server(loop, clock, limits,
               {.changed = [this] { changed.pulse(); },
                .started = [](pid_t) -> Task<> { co_return; },
                .ended = [](pid_t) -> Task<> { co_return; }}) {}

  Task<> start(std::string command) {
    co_await server.start(
        {.process = [this, command](int port, const auto&) { return process(command, port); }, .port = own_port});
  }

  Task<DevServerProcess> process(std::string command, int port) const {
    if (!refusal.empty()) throw std::runtime_error(refusal);
    co_return DevServerProcess{.options = {.arguments = {"/bin/sh", "-c", std::move(command)},
                                           .environment = {"PATH=/usr/bin:/bin", "PORT=" + std::to_string(port)},
                                           .directory = directory.path(),
                                           .separate_stderr = true}};
  }

  Task<> until(AppStatus status) {
    while (server.status() != status) {
      co_await changed.wait();
    }
  }

  std::string last_note() const {
    for (const auto& line : server.log().last(1)) return line.line;
    return {};
  }

  std::string refusal;          ///< error of the next start; empty: none
  std::optional<int> own_port;  ///< the port of its definition
  SystemClock clock;
  testing::ScratchDirectory directory;
  AsyncEvent changed;
  DevServer server;
};

TEST(DevServer, GivesUpOnOneThatNeverAnswers) {
  testing::run([](Loop& loop) -> Task<> {
    Served served(loop, {.start_timeout = 1s, .stop_grace = 1s});
    co_await served.start("exec sleep 60");
    EXPECT_EQ(served.server.status(), AppStatus::starting);
    EXPECT_TRUE(served.server.has_process());
    co_await served.until(AppStatus::failed);
    EXPECT_FALSE(served.server.has_process());
    EXPECT_FALSE(served.server.alive());
    EXPECT_EQ(served.server.restarts(), 0) << "it did not crash";
    EXPECT_TRUE(served.last_note().starts_with("did not answer at port"));
    co_await served.server.stop();
  });
}

TEST(DevServer, RestartsAfterACrashUpToALimit) {
  testing::run([](Loop& loop) -> Task<> {
    Served served(loop, {.first_backoff = 1ms, .max_restarts = 3});
    co_await served.start("echo started; exit 7");
    co_await served.until(AppStatus::failed);
    EXPECT_EQ(served.server.restarts(), 3);
    EXPECT_EQ(served.last_note(), "crashed 4 times: not started again");
    int starts = 0;
    for (const auto& line : served.server.log().last(100)) starts += line.line == "started" ? 1 : 0;
    EXPECT_EQ(starts, 4);
    co_await served.server.stop();
  });
}

/// The port of the second start of a server that has crashed once, if its first port is in use by then.
Task<std::string> second_port(Loop& loop, Served& served) {
  co_await served.start("[ -e started ] && echo $PORT && exec sleep 60; touch started; exit 1");
  using asio::ip::tcp;
  const auto first = static_cast<std::uint16_t>(served.server.port());
  const tcp::acceptor other(loop, {asio::ip::address_v4::loopback(), first});
  while (served.server.restarts() == 0 || served.last_note().find_first_not_of("0123456789") != std::string::npos) {
    StopSource never;
    co_await pause(never, 5ms);
  }
  EXPECT_EQ(served.last_note(), std::to_string(served.server.port()));
  const bool same = served.server.port() == first;
  co_await served.server.stop();
  co_return same ? "the same" : "another";
}

TEST(DevServer, GetsAnotherPortIfItsOwnWasTaken) {
  testing::run([](Loop& loop) -> Task<> {
    Served served(loop, {.stop_grace = 1s, .first_backoff = 50ms});
    EXPECT_EQ(co_await second_port(loop, served), "another");
  });
}

TEST(DevServer, KeepsThePortOfItsDefinition) {
  testing::run([](Loop& loop) -> Task<> {
    Served served(loop, {.stop_grace = 1s, .first_backoff = 50ms});
    served.own_port = free_port();
    EXPECT_EQ(co_await second_port(loop, served), "the same");
  });
}

TEST(DevServer, IsStoppedBetweenACrashAndTheNextStart) {
  testing::run([](Loop& loop) -> Task<> {
    Served served(loop, {.first_backoff = 1h});
    co_await served.start("exit 1");
    while (served.server.has_process()) {
      co_await served.changed.wait();
    }
    EXPECT_TRUE(served.server.alive());
    co_await served.server.stop();
    EXPECT_EQ(served.server.status(), AppStatus::stopped);
    EXPECT_FALSE(served.server.alive());
  });
}

TEST(DevServer, FailsIfTheNextStartIsRefused) {
  testing::run([](Loop& loop) -> Task<> {
    Served served(loop, {.first_backoff = 1ms});
    co_await served.start("exit 1");
    served.refusal = "there is no secret KEY";
    co_await served.until(AppStatus::failed);
    EXPECT_FALSE(served.server.alive());
    EXPECT_EQ(served.last_note(), "cannot be started: there is no secret KEY");
    co_await served.server.stop();
  });
}

TEST(DevServer, KillsAProcessThatIgnoresSigterm) {
  testing::run([](Loop& loop) -> Task<> {
    Served served(loop, {.stop_grace = 50ms});
    co_await served.start("trap '' TERM; echo deaf; while :; do sleep 1; done");
    while (served.last_note() != "deaf") {
      StopSource never;
      co_await pause(never, 5ms);
    }
    co_await served.server.stop();
    EXPECT_EQ(served.server.status(), AppStatus::stopped);
  });
}

}  // namespace
}  // namespace agw
