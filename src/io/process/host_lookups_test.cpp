#include "io/process/host_lookups.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>

#include <gtest/gtest.h>

#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

/// A name server that answers on request. Owned by the lookups.
struct SlowServer {
  HostLookups::Ask ask() const {
    return [state = state_](const std::string& host) {
      ++state->asked;
      if (host == "slow") state->released.wait();
      return HostLookups::Answer{.addresses = {asio::ip::make_address("192.0.2.1")}};
    };
  }
  void answer() { state_->promise.set_value(); }
  int asked() const { return state_->asked; }

private:
  struct State {
    std::promise<void> promise;
    std::shared_future<void> released = promise.get_future().share();
    std::atomic<int> asked = 0;
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

TEST(HostLookupsTest, ANameThatIsLookedUpForLongHoldsUpNoOtherOne) {
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

TEST(HostLookupsTest, NobodyHasToWaitForALookupThatHangs) {
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
