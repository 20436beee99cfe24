#include "features/integrations/stdio_transport.hpp"

#include <gtest/gtest.h>

#include "testing/run.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;

/// Runs a shell command as a server. Returns why the transport failed.
std::string cause_of_death(const std::string& command, const FilledSecrets& secrets = {}) {
  std::string cause;
  testing::run([&](Loop& loop) -> Task<> {
    StdioTransport transport(loop, "server", [&]() -> Task<ServerProcess> {
      co_return ServerProcess{
          .options = {.arguments = {"sh", "-c", command}, .environment = {"PATH=/usr/bin:/bin"}, .directory = "/tmp"},
          .secrets = secrets};
    });
    StopSource stop;
    cause = co_await transport.open(stop);
    if (cause.empty()) cause = co_await transport.wait_for_failure();
    co_await transport.close(100ms);
  });
  return cause;
}

FilledSecrets with_secret(const std::string& value) {
  FilledSecrets secrets;
  secrets.add(value);
  return secrets;
}

TEST(StdioTransport, ReportsTheLastLines) {
  EXPECT_EQ(cause_of_death("echo first >&2; echo ' no API key ' >&2; echo >&2"), "it ended; it last said: no API key");
  EXPECT_EQ(cause_of_death("printf 'no API key' >&2"), "it ended; it last said: no API key") << "without a line's end";
  EXPECT_EQ(cause_of_death("exec 1>&-; printf 'no API ' >&2; printf key >&2"), "it ended; it last said: no API key");
  EXPECT_EQ(cause_of_death("true"), "it ended");
}

TEST(StdioTransport, DoesNotWaitLongForTheLastLines) {
  EXPECT_EQ(cause_of_death("printf half >&2; sleep 60 1>&- &"), "it ended") << "another one holds the stream open";
}

TEST(StdioTransport, ReportsNoPartOfASecret) {
  const auto secrets = with_secret("hunter2secret ");
  EXPECT_EQ(cause_of_death("printf 'key hunter2; no key HUNTER2secret ' >&2", secrets),
            "it ended; it last said: key hunter2; no key [secret]");
  EXPECT_EQ(cause_of_death("head -c 131066 /dev/zero | tr '\\0' ' ' >&2; echo 'hunter2secret ' >&2", secrets),
            "it ended")
      << "which stands where a long line is cut";
}

TEST(StdioTransport, ReportsTheBeginningOfALongLine) {
  const auto cause = cause_of_death("printf begun >&2; head -c 300000 /dev/zero | tr '\\0' x >&2; echo end >&2");
  EXPECT_EQ(cause, "it ended; it last said: begun" + std::string(995, 'x'));
}

TEST(StdioTransport, DoesNotWaitForABetterAnswer) {
  testing::run([](Loop& loop) -> Task<> {
    StdioTransport transport(loop, "server", []() -> Task<ServerProcess> {
      co_return ServerProcess{
          .options = {.arguments = {"sh", "-c", R"(read -r _; echo '{"jsonrpc":"2.0","id":1}'; read -r _)"},
                      .environment = {"PATH=/usr/bin:/bin"},
                      .directory = "/tmp"},
          .secrets = {}};
    });
    StopSource stop;
    EXPECT_EQ(co_await transport.open(stop), "");
    const auto response = co_await transport.send_request({.method = "tools/call"}, stop);
    EXPECT_EQ(response.failure(), "its answer has neither a result nor an error (error -32603)");
    co_await transport.close(100ms);
  });
}

TEST(StdioTransport, HidesWhatOnlyItsProxyHoldsInEachResult) {
  testing::run([](Loop& loop) -> Task<> {
    constexpr auto server =
        R"(read -r _; echo '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"X-Key: hunter2secret"}]}}'; read -r _)";
    StdioTransport transport(loop, "server", []() -> Task<ServerProcess> {
      co_return ServerProcess{
          .options = {.arguments = {"sh", "-c", server}, .environment = {"PATH=/usr/bin:/bin"}, .directory = "/tmp"},
          .withheld = with_secret("hunter2secret")};
    });
    StopSource stop;
    EXPECT_EQ(co_await transport.open(stop), "");
    const auto response = co_await transport.send_request({.method = "tools/call"}, stop);
    EXPECT_EQ(to_json(response.result), R"({"content":[{"type":"text","text":"X-Key: [secret]"}]})");
    co_await transport.close(100ms);
  });
}

}  // namespace
}  // namespace agw
