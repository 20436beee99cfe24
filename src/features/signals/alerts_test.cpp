#include "features/signals/alerts.hpp"

#include <gtest/gtest.h>

#include "testing/cost_rooms.hpp"

namespace agw {
namespace {

using namespace testing::extensions;

/// Alerts about the costs of an agent.
struct AlertsFixture : CostRooms, private Subscriber {
  AlertsFixture(Loop& loop, const testing::ScratchDirectory& directory)
      : CostRooms(loop, directory),
        costs(loop, database, hub, clock, *TimeZone::named("Europe/Berlin"), extensions, threads, models, std::nullopt),
        signals(database, hub, clock, std::chrono::days(90)),
        alerts(loop, blocking, database, hub, signals, costs, clock, directory.path(), std::nullopt),
        hears_signals(hub, *this) {
    costs.load(database.start_connection());
  }

  void deliver(const DomainEvent& event) override { has_raised = has_raised || event.type == "signal"; }

  Task<> execute(std::string sql) {
    co_await database.write([sql](Connection& connection) { connection.execute(sql); });
  }

  Costs costs;
  Signals signals;
  Alerts alerts;
  bool has_raised = false;
  Hub::Listening hears_signals;
};

TEST(Alerts, LookAtTheCostsAgainAfterACheckHasFailed) {
  testing::run([](Loop& loop) -> Task<> {
    const testing::ScratchDirectory directory;
    AlertsFixture fixture(loop, directory);
    json::object body{{"type", "agent"}, {"name", "ann"}, {"description", "d"}, {"definition", json::object()}};
    const auto agent = co_await fixture.extensions.create(std::move(body));
    const auto thread = co_await fixture.threads.create({});
    co_await fixture.execute("ALTER TABLE cost_days RENAME TO hidden");
    fixture.costs.spend(*agent, thread.id, answer_for(5.0));
    bool has_failed = false;
    try {
      co_await fixture.costs.report(CostPeriod::today);
    } catch (const DatabaseError&) {
      has_failed = true;
    }
    EXPECT_TRUE(has_failed);
    co_await fixture.execute("ALTER TABLE hidden RENAME TO cost_days");
    while (!fixture.has_raised) {
      fixture.costs.spend(*agent, thread.id, answer_for(0.01));
      co_await fixture.database.read([](Connection&) { return true; });
    }
    const auto raised = co_await fixture.signals.list({});
    EXPECT_EQ(raised.at(0).kind, "cost-spike");
    co_await fixture.alerts.stop();
  });
}

std::vector<DayCost> days(std::vector<double> costs) {
  std::vector<DayCost> all;
  for (const auto cost : costs) all.push_back({"2026-01-02", cost});
  return all;
}

TEST(SpikeLimit, IsThreeTimesTheMedianOfTheDaysBeforeToday) {
  EXPECT_DOUBLE_EQ(spike_limit(days({1, 2, 6, 100})), 6);
  EXPECT_DOUBLE_EQ(spike_limit(days({2, 4, 100})), 9);
}

TEST(SpikeLimit, LooksAtFourteenDays) {
  std::vector<double> costs(30, 50);
  std::fill(costs.begin() + 15, costs.end(), 2);
  EXPECT_DOUBLE_EQ(spike_limit(days(costs)), 6);
}

TEST(UsualCost, IsTheMedianOfTheDaysBeforeToday) {
  EXPECT_DOUBLE_EQ(usual_cost(days({1, 2, 6, 100})), 2);
  EXPECT_DOUBLE_EQ(usual_cost(days({5})), 0);
}

TEST(SpikeLimit, IsNeverBelowOneDollar) {
  EXPECT_DOUBLE_EQ(spike_limit(days({0.01, 0.02, 5})), 1);
  EXPECT_DOUBLE_EQ(spike_limit(days({5})), 1);
  EXPECT_DOUBLE_EQ(spike_limit({}), 1);
}

}  // namespace
}  // namespace agw
