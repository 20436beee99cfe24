#include "server/http/read_poller.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>

#include <gtest/gtest.h>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/async/task_group.hpp"
#include "io/files/descriptor.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

/// Counts the readiness events of one end of a socket pair, and can remove another handler.
class CountingHandler : public ReadHandler {
public:
  explicit CountingHandler(ReadPoller& poller, std::string* turns = nullptr) : poller_(poller), turns_(turns) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
    near_ = Descriptor(ends[0]);
    far_ = Descriptor(ends[1]);
    poller_.add(near_.get(), *this);
  }

  void on_readable(bool peer_closed) override {
    ++readable;
    saw_end = saw_end || peer_closed;
    record('r');
    if (removes) poller_.remove(removes->near_.get(), *removes);
  }
  void on_respond() override { record('a'); }
  void on_flush() override { record('s'); }
  void write(std::string_view text) {
    ASSERT_EQ(::write(far_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void close() { far_ = Descriptor(); }

  int readable = 0;
  bool saw_end = false;
  CountingHandler* removes = nullptr;

private:
  void record(char turn) {
    if (turns_) *turns_ += turn;
  }

  ReadPoller& poller_;
  std::string* turns_;
  Descriptor near_;
  Descriptor far_;
};

void with_poller(const std::function<Task<>(ReadPoller&, Loop&)>& body) {
  testing::run([&](Loop& loop) -> Task<> {
    ReadPoller poller(loop);
    TaskGroup group(loop);
    group.spawn(poller.run());
    co_await body(poller, loop);
    group.cancel();
    co_await group.join();
  });
}

Task<> until(Loop& loop, const std::function<bool()>& done) {
  while (!done()) co_await asio::post(loop, asio::use_awaitable);
}

TEST(ReadPoller, ReportsArrivedBytesOnce) {
  with_poller([](ReadPoller& poller, Loop& loop) -> Task<> {
    CountingHandler one(poller);
    CountingHandler other(poller);
    one.write("a");
    co_await until(loop, [&] { return one.readable > 0; });
    other.write("b");  // the first byte is not reported again although it was not read
    co_await until(loop, [&] { return other.readable > 0; });
    EXPECT_EQ(one.readable, 1);
    one.write("c");
    co_await until(loop, [&] { return one.readable > 1; });
    EXPECT_FALSE(one.saw_end);
  });
}

TEST(ReadPoller, MakesThreePassesOverAllReadySockets) {
  with_poller([](ReadPoller& poller, Loop& loop) -> Task<> {
    std::string turns;
    CountingHandler one(poller, &turns);
    CountingHandler other(poller, &turns);
    one.write("a");
    other.write("b");  // both are ready in the same turn
    co_await until(loop, [&] { return turns.ends_with('s'); });
    EXPECT_EQ(turns, "rraass");
  });
}

TEST(ReadPoller, ReportsTheEndOfAStream) {
  with_poller([](ReadPoller& poller, Loop& loop) -> Task<> {
    CountingHandler one(poller);
    one.write("last words");
    one.close();
    co_await until(loop, [&] { return one.readable > 0; });
    EXPECT_TRUE(one.saw_end);
  });
}

TEST(ReadPoller, DoesNotCallAHandlerRemovedInTheSamePass) {
  with_poller([](ReadPoller& poller, Loop& loop) -> Task<> {
    CountingHandler one(poller);
    CountingHandler other(poller);
    one.removes = &other;
    other.removes = &one;
    one.write("a");
    other.write("b");  // both are ready in the same turn
    co_await until(loop, [&] { return one.readable + other.readable > 0; });
    CountingHandler third(poller);
    third.write("c");
    co_await until(loop, [&] { return third.readable > 0; });
    EXPECT_EQ(one.readable + other.readable, 1);
  });
}

}  // namespace
}  // namespace agw
