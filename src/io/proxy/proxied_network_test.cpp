#include "io/proxy/proxied_network.hpp"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
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
using namespace std::chrono_literals;

class SandboxNetworkTest : public ::testing::Test {
protected:
  void SetUp() override {
    std::filesystem::create_directories(project_);
    if (const auto problem = sandbox_.problem()) GTEST_SKIP() << *problem;
  }

  /// The output of a command, in which `PORT` is replaced by the port of a server that sends `hello`. Every host gets
  /// the given verdict.
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
                                  },
                              .names_loopback = names_loopback_,
                              .resolve = resolve_,
                              .time_to_resolve = time_to_resolve_});
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
  bool names_loopback_ = false;
  HostLookups::Ask resolve_ = HostLookups::ask_system;
  std::chrono::milliseconds time_to_resolve_ = 1min;
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

/// A command that requests a host by that name, at the server's port.
std::string asking_for(const std::string& host) {
  return "exec 3<>/dev/tcp/127.0.0.1/61980; printf 'CONNECT " + host + ":PORT HTTP/1.1\\r\\n\\r\\n' >&3; cat <&3";
}

TEST_F(SandboxNetworkTest, ResolvesANameOnceForEachConnection) {
  std::atomic<int> times = 0;
  resolve_ = [&](const std::string&) {
    const bool first = ++times == 1;
    return HostLookups::Answer{.addresses = {asio::ip::make_address(first ? "127.0.0.1" : "127.0.0.9")}};
  };
  EXPECT_THAT(output_of(asking_for("rebound.example"), {.allowed = true, .may_be_private = true}), HasSubstr("hello"));
  EXPECT_EQ(times, 1) << "the address that was checked is the one that is connected to";
}

TEST_F(SandboxNetworkTest, ResolvesNoNameThatItsRulesRefuse) {
  std::atomic<int> times = 0;
  resolve_ = [&](const std::string&) {
    ++times;
    return HostLookups::Answer();
  };
  EXPECT_THAT(output_of(asking_for("0123456789abcdef.attacker.example"), {.reason = "no"}), HasSubstr("403"));
  EXPECT_EQ(times, 0) << "or the name servers of the attacker would hear it";
}

/// Lookups of `slow` names that end on request, or after a minute. Owned by the lookups.
struct SlowLookups {
  std::promise<void> promise;
  std::shared_future<void> released = promise.get_future().share();
  std::atomic<int> answered = 0;
};

TEST_F(SandboxNetworkTest, ASlowLookupDelaysNothingElse) {
  const auto slow = std::make_shared<SlowLookups>();
  resolve_ = [slow](const std::string& host) {
    if (!host.starts_with("slow")) return HostLookups::ask_system(host);
    slow->released.wait_for(1min);
    ++slow->answered;
    return HostLookups::Answer();
  };
  std::string command;
  for (const auto* host : {"slow1", "slow2", "slow3"}) {
    command +=
        fmt::format("exec {{fd}}<>/dev/tcp/127.0.0.1/61980; printf 'CONNECT {}:80 HTTP/1.1\\r\\n\\r\\n' >&$fd; ", host);
  }
  EXPECT_THAT(output_of(command + tunnel, {.allowed = true, .may_be_private = true}), HasSubstr("hello"));
  EXPECT_EQ(slow->answered, 0) << "neither another host nor the end of the network waits for them";
  slow->promise.set_value();
}

TEST_F(SandboxNetworkTest, RefusesANameThatIsNotFoundInTime) {
  const auto slow = std::make_shared<SlowLookups>();
  resolve_ = [slow](const std::string&) {
    slow->released.wait_for(1min);
    return HostLookups::Answer{.addresses = {asio::ip::make_address("127.0.0.1")}};
  };
  time_to_resolve_ = 10ms;
  const auto output = output_of(asking_for("slow.example"), {.allowed = true, .may_be_private = true});
  EXPECT_THAT(output, HasSubstr("HTTP/1.1 502 Bad Gateway"));
  EXPECT_THAT(output, HasSubstr("slow.example has no address: is the name right?"));
  slow->promise.set_value();
}

TEST_F(SandboxNetworkTest, RefusesPublicNamesWhoseAddressesAreNotPublic) {
  for (const auto* address : {"127.0.0.1", "::1", "::ffff:127.0.0.1", "10.1.2.3", "169.254.169.254", "fd00::1"}) {
    resolve_ = [address](const std::string&) {
      return HostLookups::Answer{.addresses = {asio::ip::make_address(address)}};
    };
    const auto output = output_of(asking_for("alias.example"), {.allowed = true});
    EXPECT_THAT(output, HasSubstr("is no public address")) << address;
    EXPECT_THAT(output, Not(HasSubstr("hello"))) << address;
  }
}

TEST_F(SandboxNetworkTest, LeadsLocalhostToTheSandboxItself) {
  const auto* const command = R"(exec 2>&1; /usr/bin/python3 -c '
import socket
server = socket.create_server(("localhost", 0))
proxy = socket.create_connection(("127.0.0.1", 61980))
proxy.sendall(b"CONNECT localhost:%d HTTP/1.1\r\n\r\n" % server.getsockname()[1])
server.accept()[0].sendall(b"own")
print(proxy.makefile().read())
')";
  EXPECT_THAT(output_of(command, {.reason = "no"}), HasSubstr("own"));
  EXPECT_TRUE(noted_.empty()) << "it is no host that anybody reaches";
}

TEST_F(SandboxNetworkTest, HasPrivateLoopbackUnlessItsRulesNameTheHosts) {
  EXPECT_THAT(output_of("echo \"[$NO_PROXY]\"", {}), HasSubstr("[localhost,127.0.0.1,::1]"));
  names_loopback_ = true;
  EXPECT_THAT(output_of("echo \"[$NO_PROXY]\"", {}), HasSubstr("[]"));
}

TEST_F(SandboxNetworkTest, HasNoDatagramsAndNoRawSockets) {
  const auto* const command =
      "exec 2>&1; (exec 3<>/dev/udp/8.8.8.8/53 && echo x >&3 && echo sent); "
      "/usr/bin/python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)'";
  const auto output = output_of(command, {.allowed = true});
  EXPECT_THAT(output, HasSubstr("unreachable"));
  EXPECT_THAT(output, HasSubstr("PermissionError"));
  EXPECT_THAT(output, Not(HasSubstr("sent")));
}

TEST_F(SandboxNetworkTest, LetsAProgramReadItsRefusalWhateverItSends) {
  const auto head =
      "exec 3<>/dev/tcp/127.0.0.1/61980; (printf 'GET http://a/ HTTP/1.1\\r\\nx: '; head -c 1M /dev/zero | "
      "tr '\\0' x) >&3; cat <&3";
  EXPECT_THAT(output_of(head, {.allowed = true}), HasSubstr("HTTP/1.1 431"));
  const auto body =
      "exec 3<>/dev/tcp/127.0.0.1/61980; (printf 'POST http://a.example/ HTTP/1.1\\r\\nContent-Length: "
      "1048576\\r\\n\\r\\n'; head -c 1M /dev/zero) >&3; cat <&3";
  EXPECT_THAT(output_of(body, {.reason = "not this one"}), HasSubstr("not this one"));
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
