#include "io/nats/nats_connection.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/error.hpp"
#include "testing/run.hpp"
#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

using agw::testing::run;
using asio::ip::tcp;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* program = "/usr/sbin/nats-server";

/// A server in a temporary directory that chooses a free port and writes it there.
class NatsServer {
public:
  explicit NatsServer(const std::string& options = "") {
    const auto configuration = directory_.path() / "nats.conf";
    std::ofstream(configuration) << fmt::format("host: 127.0.0.1\nport: -1\nports_file_dir: \"{}\"\n{}\n",
                                                directory_.path().string(), options);
    process_ = ::fork();
    if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const int output = ::open((directory_.path() / "log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
      ::dup2(output, STDOUT_FILENO);
      ::dup2(output, STDERR_FILENO);
      ::execl(program, program, "-c", configuration.c_str(), nullptr);
      ::_exit(127);
    }
    find_port();
  }
  ~NatsServer() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  NatsServer(const NatsServer&) = delete;
  NatsServer& operator=(const NatsServer&) = delete;

  NatsAddress address(const std::string& credentials = "") const {
    return read_nats_address(fmt::format("nats://{}127.0.0.1:{}", credentials, port_), "cluster.events");
  }

private:
  void find_port() {
    const auto file = directory_.path() / fmt::format("nats-server_{}.ports", process_);
    while (port_.empty()) {
      std::ifstream stream(file);
      const std::string text((std::istreambuf_iterator<char>(stream)), {});
      const auto place = text.find("nats://127.0.0.1:");
      const auto end = text.find('"', place);
      if (place != text.npos && end != text.npos) port_ = text.substr(place + 17, end - place - 17);
      if (::waitpid(process_, nullptr, WNOHANG) != 0) throw std::runtime_error("nats-server has ended");
    }
  }

  agw::testing::ScratchDirectory directory_;
  int process_ = 0;
  std::string port_;
};

#define SKIP_WITHOUT_NATS() \
  if (!std::filesystem::exists(program)) GTEST_SKIP() << "nats-server is not installed"

Task<> until(Loop& loop, std::function<bool()> holds) {
  while (!holds()) co_await asio::post(loop, asio::use_awaitable);
}

NatsConnection::Options options_for(const NatsAddress& address, std::vector<std::string>* heard) {
  return {.address = address,
          .key = "cluster.events",
          .name = "test",
          .subjects = {"s.one", "s.two"},
          .on_message =
              [heard](auto subject, auto payload) {
                if (heard) heard->push_back(subject + " " + payload);
              },
          .on_change = [](bool) {}};
}

TEST(NatsConnectionTest, MessagesComeInTheOrderOfTheirPublisher) {
  SKIP_WITHOUT_NATS();
  const NatsServer server;
  run([&](Loop& loop) -> Task<> {
    std::vector<std::string> heard;
    std::vector<std::string> own;
    const NatsConnection receiver(loop, options_for(server.address(), &heard));
    NatsConnection sender(loop, options_for(server.address(), &own));
    // A subscription takes effect when the server has read it, which the first received message proves.
    while (heard.empty()) {
      sender.publish("s.one", "ready?");
      co_await asio::post(loop, asio::use_awaitable);
    }
    std::vector<std::string> wanted;
    for (int i = 0; i < 1'000; ++i) {
      const auto* subject = i % 3 == 0 ? "s.one" : "s.two";
      sender.publish(subject, std::to_string(i));
      wanted.push_back(fmt::format("{} {}", subject, i));
    }
    co_await until(loop, [&] { return heard.back() == wanted.back(); });
    std::erase(heard, "s.one ready?");
    EXPECT_EQ(heard, wanted);
    EXPECT_TRUE(own.empty());
  });
}

TEST(NatsConnectionTest, AServerThatRefusesTheCredentialsIsNamedWithoutThem) {
  SKIP_WITHOUT_NATS();
  const NatsServer server("authorization { user: agw, password: right }");
  Loop loop;
  for (const auto* credentials : {"", "agw:never-shown@"}) {
    try {
      const NatsConnection connection(loop, options_for(server.address(credentials), nullptr));
      ADD_FAILURE();
    } catch (const StartError& error) {
      EXPECT_EQ(error.status(), ExitStatus::failure);
      EXPECT_THAT(error.what(), AllOf(HasSubstr("the NATS server at 127.0.0.1:"), HasSubstr("(cluster.events)"),
                                      Not(HasSubstr("never-shown"))));
    }
  }
  check_nats(server.address("agw:right@"), "cluster.events");
}

TEST(NatsConnectionTest, AnUnreachableServerIsRetried) {
  SKIP_WITHOUT_NATS();
  Loop loop;
  const NatsConnection connection(loop, options_for(read_nats_address("nats://127.0.0.1:1", "k"), nullptr));
  EXPECT_FALSE(connection.is_connected());
  EXPECT_THROW(check_nats(read_nats_address("nats://127.0.0.1:1", "k"), "k"), StartError);
}

}  // namespace
}  // namespace agw
