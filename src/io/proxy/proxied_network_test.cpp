#include "io/proxy/proxied_network.hpp"

#include <filesystem>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "io/process/process.hpp"
#include "io/sandbox/sandbox.hpp"
#include "testing/run.hpp"
#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

using asio::ip::tcp;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class SandboxNetworkTest : public ::testing::Test {
protected:
  void SetUp() override {
    std::filesystem::create_directories(project_);
    if (const auto problem = sandbox_.problem()) GTEST_SKIP() << *problem;
  }

  /// The output of a command, of which `PORT` is that of a server that sends `hello`, with that verdict about each
  /// host.
  std::string output_of(std::string command, HostVerdict verdict) {
    std::string output;
    testing::run([&](Loop& loop) -> Task<> {
      tcp::acceptor server(loop, {asio::ip::address_v4::loopback(), 0});
      const auto port = std::to_string(server.local_endpoint().port());
      for (auto at = command.find("PORT"); at != command.npos; at = command.find("PORT")) command.replace(at, 4, port);
      TaskGroup serving(loop);
      serving.spawn(greet(server));
      BlockingPool blocking(loop);
      ProxiedNetwork network(loop, blocking,
                             {.judge = [&](HostPort) -> Task<HostVerdict> { co_return verdict; },
                              .note =
                                  [&](const HostPort& target, const HostVerdict& found) {
                                    noted_.push_back(target.host + (found.allowed ? " reached" : " refused"));
                                  }});
      StopSource stop;
      const SandboxSpec spec{.directory = project_, .writable = {project_}, .network = &network};
      auto options = co_await blocking.run([&] { return sandbox_.wrap({"bash", "-c", command}, spec); });
      output = (co_await run_process(loop, std::move(options), {}, {}, stop)).output;
      co_await network.close();
      serving.cancel();
      co_await serving.join();
    });
    return output;
  }

  static Task<> greet(tcp::acceptor& server) {
    for (;;) {
      boost::system::error_code error;
      auto socket = co_await server.async_accept(asio::redirect_error(asio::use_awaitable, error));
      if (error) co_return;
      constexpr std::string_view hello = "hello";
      co_await asio::async_write(socket, asio::buffer(hello), asio::redirect_error(asio::use_awaitable, error));
    }
  }

  static constexpr auto tunnel =
      "exec 3<>/dev/tcp/127.0.0.1/61980; printf 'CONNECT 127.0.0.1:PORT HTTP/1.1\\r\\n\\r\\n' >&3; cat <&3";

  testing::ScratchDirectory scratch_;
  std::filesystem::path project_ = scratch_.path() / "home/site";
  Sandbox sandbox_{{.home = scratch_.path() / "home", .data_directory = scratch_.path() / "home/.agent-gateway"}};
  std::vector<std::string> noted_;
};

TEST_F(SandboxNetworkTest, LeadsToTheHostsThatItsRulesAllow) {
  const auto output = output_of(tunnel, {.allowed = true, .may_be_private = true});
  EXPECT_EQ(output, "HTTP/1.1 200 Connection established\r\n\r\nhello");
  EXPECT_THAT(noted_, ElementsAre("127.0.0.1 reached"));
}

TEST_F(SandboxNetworkTest, RefusesWithTheReason) {
  const auto output = output_of(tunnel, {.reason = "permission denied: not this one"});
  EXPECT_THAT(output, HasSubstr("HTTP/1.1 403 Forbidden"));
  EXPECT_THAT(output, HasSubstr("permission denied: not this one"));
  EXPECT_THAT(noted_, ElementsAre("127.0.0.1 refused"));
}

TEST_F(SandboxNetworkTest, RefusesAddressesThatAreNotPublic) {
  const auto output = output_of(tunnel, {.allowed = true});
  EXPECT_THAT(output, HasSubstr("HTTP/1.1 403 Forbidden"));
  EXPECT_THAT(output, Not(HasSubstr("hello")));
}

TEST_F(SandboxNetworkTest, HasNoOtherWayOut) {
  const auto output =
      output_of("exec 3<>/dev/tcp/127.0.0.1/PORT && cat <&3", {.allowed = true, .may_be_private = true});
  EXPECT_THAT(output, HasSubstr("refused"));
  EXPECT_TRUE(noted_.empty());
}

TEST_F(SandboxNetworkTest, ServesManyConnectionsAtOnce) {
  const auto output = output_of("for i in {1..100}; do (" + std::string(tunnel) + " | tail -c 5) & done; wait",
                                {.allowed = true, .may_be_private = true});
  std::size_t reached = 0;
  for (auto at = output.find("hello"); at != output.npos; at = output.find("hello", at + 1)) ++reached;
  EXPECT_EQ(reached, 100U);
}

}  // namespace
}  // namespace agw
