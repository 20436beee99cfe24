#include "server/read_watch.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>

#include <gtest/gtest.h>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/group.hpp"
#include "io/descriptor.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

/// Counts what it is told of one end of a socket pair, and can end the watch over another.
class Listening : public Readable {
public:
  explicit Listening(ReadWatch& watch, std::string* turns = nullptr) : watch_(watch), turns_(turns) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
    near_ = Descriptor(ends[0]);
    far_ = Descriptor(ends[1]);
    watch_.add(near_.get(), *this);
  }

  void receive(bool ended) override {
    ++told;
    saw_end = saw_end || ended;
    note('r');
    if (forgets) watch_.remove(forgets->near_.get(), *forgets);
  }
  void answer() override { note('a'); }
  void send() override { note('s'); }
  void say(std::string_view text) {
    ASSERT_EQ(::write(far_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void leave() { far_ = Descriptor(); }

  int told = 0;
  bool saw_end = false;
  Listening* forgets = nullptr;

private:
  void note(char turn) {
    if (turns_) *turns_ += turn;
  }

  ReadWatch& watch_;
  std::string* turns_;  ///< of several
  Descriptor near_;
  Descriptor far_;
};

void watching(const std::function<Task<>(ReadWatch&, Loop&)>& body) {
  testing::run([&](Loop& loop) -> Task<> {
    ReadWatch watch(loop);
    Group group(loop);
    group.spawn(watch.run());
    co_await body(watch, loop);
    group.cancel();
    co_await group.join();
  });
}

Task<> until(Loop& loop, const std::function<bool()>& done) {
  while (!done()) co_await asio::post(loop, asio::use_awaitable);
}

TEST(ReadWatch, TellsOnceOfWhatArrives) {
  watching([](ReadWatch& watch, Loop& loop) -> Task<> {
    Listening one(watch);
    Listening other(watch);
    one.say("a");
    co_await until(loop, [&] { return one.told > 0; });
    other.say("b");  // what nobody read is not told again meanwhile
    co_await until(loop, [&] { return other.told > 0; });
    EXPECT_EQ(one.told, 1);
    one.say("c");
    co_await until(loop, [&] { return one.told > 1; });
    EXPECT_FALSE(one.saw_end);
  });
}

TEST(ReadWatch, LetsEachReceiveThenEachAnswerThenEachSend) {
  watching([](ReadWatch& watch, Loop& loop) -> Task<> {
    std::string turns;
    Listening one(watch, &turns);
    Listening other(watch, &turns);
    one.say("a");
    other.say("b");  // both are ready in the same turn
    co_await until(loop, [&] { return turns.ends_with('s'); });
    EXPECT_EQ(turns, "rraass");
  });
}

TEST(ReadWatch, TellsOfTheEndOfAStream) {
  watching([](ReadWatch& watch, Loop& loop) -> Task<> {
    Listening one(watch);
    one.say("last words");
    one.leave();
    co_await until(loop, [&] { return one.told > 0; });
    EXPECT_TRUE(one.saw_end);
  });
}

TEST(ReadWatch, TellsNobodyWhoWasRemovedMeanwhile) {
  watching([](ReadWatch& watch, Loop& loop) -> Task<> {
    Listening one(watch);
    Listening other(watch);
    one.forgets = &other;
    other.forgets = &one;
    one.say("a");
    other.say("b");  // both are ready in the same turn
    co_await until(loop, [&] { return one.told + other.told > 0; });
    Listening third(watch);
    third.say("c");
    co_await until(loop, [&] { return third.told > 0; });
    EXPECT_EQ(one.told + other.told, 1);
  });
}

}  // namespace
}  // namespace agw
