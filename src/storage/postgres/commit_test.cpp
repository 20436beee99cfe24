// A commit whose result is lost: a relay between the gateway and the server closes the connection.
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <list>
#include <thread>

#include <gmock/gmock.h>

#include "base/async/task_group.hpp"
#include "io/files/descriptor.hpp"
#include "storage/database.hpp"
#include "storage/postgres/engine.hpp"
#include "storage/postgres/testing.hpp"
#include "storage/testing.hpp"
#include "testing/run.hpp"

namespace agw::postgres {
namespace {

using namespace std::chrono_literals;
using agw::testing::insert;
using agw::testing::numbers;
using agw::testing::run;
using ::testing::ElementsAre;
using testing::Server;

enum class Cut {
  none,
  before,  ///< the server never receives the next COMMIT and notices the loss
  unseen,  ///< the server never receives it and does not notice
  after,   ///< the server commits, and its response is lost
  away,    ///< like `after`, and the server is unreachable while `is_away`
};

/// Relays connections to a server's socket.
class Relay {
public:
  explicit Relay(std::filesystem::path server)
      : server_(std::move(server)), listener_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    const auto address = address_of(directory_.path() / ".s.PGSQL.5432");
    if (::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listener_.get(), 8) != 0) {
      throw std::runtime_error("cannot listen");
    }
    accepting_ = std::jthread([this](const std::stop_token& stop) { accept_until(stop); });
  }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;
  ~Relay() {
    accepting_.request_stop();
    accepting_.join();
    for (auto& thread : relaying_) thread.request_stop();
  }

  std::string directory() const { return directory_.path().string(); }
  std::atomic<Cut> cut = Cut::none;
  std::atomic<bool> is_away = false;

private:
  static sockaddr_un address_of(const std::filesystem::path& path) {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    path.string().copy(address.sun_path, sizeof address.sun_path - 1);
    return address;
  }

  static bool is_readable(int descriptor) {
    pollfd wait{.fd = descriptor, .events = POLLIN, .revents = 0};
    return ::poll(&wait, 1, 20) > 0;
  }

  void accept_until(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      if (!is_readable(listener_.get())) continue;
      if (is_away) {
        const Descriptor refused(::accept(listener_.get(), nullptr, nullptr));
        continue;
      }
      relaying_.emplace_back([this](const std::stop_token& end, int client) { relay(end, Descriptor(client)); },
                             ::accept(listener_.get(), nullptr, nullptr));
    }
  }

  void relay(const std::stop_token& stop, Descriptor client) {
    const Descriptor server(::socket(AF_UNIX, SOCK_STREAM, 0));
    const auto address = address_of(server_);
    if (::connect(server.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return;
    while (!stop.stop_requested()) {
      if (is_readable(server.get()) && !forward(server, client)) return;
      if (!is_readable(client.get())) continue;
      const auto bytes = read_some(client);
      const auto wanted = bytes.find("COMMIT") == std::string::npos ? Cut::none : cut.exchange(Cut::none);
      if (wanted == Cut::before || bytes.empty()) return;
      if (wanted == Cut::unseen) {
        client = Descriptor();
        while (!stop.stop_requested()) std::this_thread::sleep_for(20ms);
        return;
      }
      if (!write_all(server, bytes)) return;
      if (wanted == Cut::after || wanted == Cut::away) {
        read_some(server);
        is_away = wanted == Cut::away;
        return;
      }
    }
  }

  static std::string read_some(const Descriptor& from) {
    std::array<char, 65536> buffer{};
    const auto count = ::read(from.get(), buffer.data(), buffer.size());
    return count > 0 ? std::string(buffer.data(), static_cast<std::size_t>(count)) : std::string();
  }
  static bool write_all(const Descriptor& to, const std::string& bytes) {
    return ::send(to.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }
  static bool forward(const Descriptor& from, const Descriptor& to) {
    const auto bytes = read_some(from);
    return !bytes.empty() && write_all(to, bytes);
  }

  agw::testing::ScratchDirectory directory_;
  std::filesystem::path server_;
  Descriptor listener_;
  std::list<std::jthread> relaying_;
  std::jthread accepting_;
};

/// The address of a new database, reached through the relay.
std::string database_behind(const Relay& relay) {
  auto url = Server::shared().create_database();
  return url.replace(0, url.find(' '), "host=" + relay.directory());
}

/// Writes one row through a relay that interrupts the commit. Returns how often the closure ran.
int runs_of_a_write_cut(Cut cut) {
  Relay relay(Server::shared().socket());
  const auto url = database_behind(relay);
  const auto runs = std::make_shared<std::atomic<int>>(0);
  run([&](Loop& loop) -> Task<> {
    Database database(loop, open_engine(loop, {.url = url, .migrations = testing::rows_table()}));
    relay.cut = cut;
    co_await database.write([runs](Connection& connection) {
      ++*runs;
      insert(connection, 1);
    });
    EXPECT_THAT(co_await database.read([](Connection& connection) { return numbers(connection); }), ElementsAre(1));
  });
  EXPECT_EQ(relay.cut, Cut::none);
  return *runs;
}

TEST(CommitTest, AWriteWhoseCommitWasNotSentRunsAgain) {
  SKIP_WITHOUT_POSTGRES();
  EXPECT_EQ(runs_of_a_write_cut(Cut::before), 2);
}

TEST(CommitTest, AWriteWhoseCommitTheServerNeverGetsRunsAgain) {
  SKIP_WITHOUT_POSTGRES();
  EXPECT_EQ(runs_of_a_write_cut(Cut::unseen), 2);
}

TEST(CommitTest, AWriteWhoseAnswerIsLostIsNotDoneTwice) {
  SKIP_WITHOUT_POSTGRES();
  EXPECT_EQ(runs_of_a_write_cut(Cut::after), 1);
}

TEST(CommitTest, WritesBehindOneWhoseOutcomeIsUnknownAreRefusedWhileTheServerIsAway) {
  SKIP_WITHOUT_POSTGRES();
  Relay relay(Server::shared().socket());
  const auto url = database_behind(relay);
  run([&](Loop& loop) -> Task<> {
    Database database(loop, open_engine(loop, {.url = url, .migrations = testing::rows_table()}));
    const auto write = [&](std::int64_t number, Database::Lane lane = Database::Lane::request) {
      return database.write([number](Connection& connection) { insert(connection, number); }, lane);
    };
    TaskGroup group(loop);
    relay.cut = Cut::away;
    group.spawn(write(1));
    co_await agw::testing::until([&] { return relay.is_away.load(); });
    int refused = 0;
    const auto be_refused = [&](std::int64_t number, Database::Lane lane) -> Task<> {
      try {
        co_await write(number, lane);
      } catch (const DatabaseUnavailable&) {
        ++refused;
      }
    };
    TaskGroup waiting(loop);
    waiting.spawn(be_refused(2, Database::Lane::request));
    waiting.spawn(be_refused(3, Database::Lane::background));
    co_await waiting.join();
    EXPECT_EQ(refused, 2);
    relay.is_away = false;
    co_await group.join();
    co_await write(4);
    EXPECT_THAT(co_await database.read([](Connection& connection) { return numbers(connection); }), ElementsAre(1, 4));
  });
}

}  // namespace
}  // namespace agw::postgres
