#include "io/process/host_lookups.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <list>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;

/// A name server that answers for slow names on request. Owned by the lookups.
struct SlowServer {
  HostLookups::Ask ask() const {
    return [state = state_](const std::string& host) {
      ++state->asked;
      const int at_once = ++state->at_once;
      for (int most = state->most; most < at_once && !state->most.compare_exchange_weak(most, at_once);) {
      }
      if (host.starts_with("slow")) state->released.wait();
      --state->at_once;
      return HostLookups::Answer{.addresses = {asio::ip::make_address("192.0.2.1")}};
    };
  }
  void answer() { state_->promise.set_value(); }
  int asked() const { return state_->asked; }
  int most_at_once() const { return state_->most; }

private:
  struct State {
    std::promise<void> promise;
    std::shared_future<void> released = promise.get_future().share();
    std::atomic<int> asked = 0;
    std::atomic<int> at_once = 0;
    std::atomic<int> most = 0;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

Task<> find(HostLookups& lookups, std::string host, int& found) {
  found += static_cast<int>((co_await lookups.find(std::move(host))).addresses.size());
}

TEST(HostLookupsTest, FindsTheAddressesOfThisHost) {
  testing::run([](Loop& loop) -> Task<> {
    HostLookups lookups(loop);
    const auto answer = co_await lookups.find("localhost");
    EXPECT_EQ(answer.problem, "");
    EXPECT_FALSE(answer.addresses.empty());
    EXPECT_TRUE(std::ranges::all_of(answer.addresses, [](const auto& each) { return each.is_loopback(); }));
  });
}

TEST(HostLookupsTest, SaysWhyThereIsNoAddress) {
  testing::run([](Loop& loop) -> Task<> {
    HostLookups lookups(loop);
    const auto answer = co_await lookups.find(std::string(300, 'x'));  // longer than the maximum for names
    EXPECT_TRUE(answer.addresses.empty());
    EXPECT_NE(answer.problem, "");
  });
}

TEST(HostLookupsTest, ASlowLookupDelaysNoOther) {
  testing::run([](Loop& loop) -> Task<> {
    SlowServer server;
    HostLookups lookups(loop, server.ask());
    TaskGroup group(loop);
    int found = 0;
    for (int i = 0; i < 40; ++i) group.spawn(find(lookups, "slow", found));
    EXPECT_EQ((co_await lookups.find("quick")).addresses.size(), 1);
    EXPECT_EQ(found, 0);
    EXPECT_LE(server.asked(), 2) << "callers share a lookup";
    server.answer();
    co_await group.join();
    EXPECT_EQ(found, 40);
    EXPECT_EQ(server.asked(), 2);
  });
}

/// Begins lookups of different slow names.
void find_slow_names(TaskGroup& group, HostLookups& lookups, int count, int& found) {
  for (int i = 0; i < count; ++i) group.spawn(find(lookups, "slow" + std::to_string(i), found));
}

TEST(HostLookupsTest, ThreadsThatHangAreCountedOverAllCallers) {
  testing::run([](Loop& loop) -> Task<> {
    SlowServer server;
    StopSource never;
    TaskGroup group(loop);
    int found = 0;
    std::list<HostLookups> programs;
    for (int i = 0; i < 5; ++i)
      find_slow_names(group, programs.emplace_back(loop, server.ask(), HostLookups::For::programs), 16, found);
    const auto wait = [&](HostLookups& lookups) { return with_timeout(never, 50ms, find(lookups, "quick", found)); };
    EXPECT_EQ(co_await wait(programs.back()), WaitResult::timed_out) << "programs have 48 threads";

    HostLookups gateway(loop, server.ask());
    co_await find(gateway, "quick", found);
    EXPECT_EQ(found, 1) << "which leaves some to the gateway itself";
    find_slow_names(group, gateway, 16, found);
    HostLookups other(loop, server.ask());
    EXPECT_EQ(co_await wait(other), WaitResult::timed_out) << "all have 64 threads together";

    server.answer();
    co_await group.join();
    EXPECT_EQ(found, 1 + 5 * 16 + 16) << "who had to wait is answered in the end";
    EXPECT_LE(server.most_at_once(), 64);
    co_await find(other, "quick", found);
    EXPECT_EQ(found, 1 + 5 * 16 + 16 + 1);
  });
}

TEST(HostLookupsTest, HungThreadsOfAbandonedCallsAreCountedToo) {
  testing::run([](Loop& loop) -> Task<> {
    SlowServer server;
    StopSource never;
    int found = 0;
    for (int i = 0; i < 4; ++i) {
      HostLookups lookups(loop, server.ask());
      TaskGroup group(loop);
      find_slow_names(group, lookups, 16, found);
      EXPECT_EQ(co_await with_timeout(never, 1ms, find(lookups, "quick", found)), WaitResult::timed_out);
      group.cancel();
      co_await group.join();
    }
    HostLookups lookups(loop, server.ask());
    EXPECT_EQ(co_await with_timeout(never, 50ms, find(lookups, "quick", found)), WaitResult::timed_out);
    EXPECT_EQ(found, 0);
    server.answer();
    co_await find(lookups, "quick", found);
    EXPECT_EQ(found, 1);
  });
}

TEST(HostLookupsTest, NoCallerHasToWaitForAHungLookup) {
  SlowServer server;
  testing::run([&](Loop& loop) -> Task<> {
    HostLookups lookups(loop, server.ask());
    StopSource stop;
    TaskGroup group(loop);
    int found = 0;
    group.spawn(find(lookups, "slow", found));
    EXPECT_EQ((co_await lookups.find("quick")).addresses.size(), 1);
    stop.request();
    EXPECT_EQ(co_await with_timeout(stop, no_limit, find(lookups, "slow", found)), WaitResult::stopped);
    group.cancel();
    co_await group.join();
    EXPECT_EQ(found, 0);
  });
  server.answer();  // the thread ends eventually, although its loop no longer exists
}

}  // namespace
}  // namespace agw
