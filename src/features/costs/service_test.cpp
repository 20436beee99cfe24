#include "features/costs/service.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/cost_rooms.hpp"

namespace agw {
namespace {

using namespace testing::extensions;
using ::testing::ElementsAre;

constexpr auto talker = "stub/talker";

/// Costs in Berlin, starting at a quarter to midnight there, with the agents `ann`, whose budget is 2 USD, and `bob`.
/// Both share a budget of 5 USD.
struct CostFixture : CostRooms {
  CostFixture(Loop& loop, const testing::ScratchDirectory& directory) : CostRooms(loop, directory) {
    clock.time = *parse_iso8601("2026-03-10T22:45:00Z");
  }

  Costs start(Loop& loop) {
    return {loop, database, hub, clock, *TimeZone::named("Europe/Berlin"), extensions, threads, models, 5.0};
  }

  Task<> make_agents() {
    ann = co_await make_agent("ann", R"({"budget_usd_per_day": 2})");
    bob = co_await make_agent("bob", "{}");
    thread = (co_await threads.create({.title = "Sums"})).id;
  }
  Task<ExtensionPointer> make_agent(std::string name, std::string definition) {
    json::object body{{"type", "agent"}, {"name", name}, {"description", "d"}, {"definition", object(definition)}};
    return extensions.create(std::move(body));
  }
  Task<> pay(Costs& costs, ExtensionPointer agent, std::optional<double> usd, std::string of_model = "talker") {
    std::vector<Spending> spendings{
        costs.spend(*agent, thread, answer_for(usd, {.output_tokens = 1}, std::move(of_model)))};
    co_await database.write([spendings](Connection& connection) { Costs::record(connection, spendings); });
  }

  ExtensionPointer ann;
  ExtensionPointer bob;
  std::string thread;
};

void with_cost_fixture(std::function<Task<>(CostFixture&, Costs&)> body) {
  testing::run([&](Loop& loop) -> Task<> {
    const testing::ScratchDirectory directory;
    CostFixture fixture(loop, directory);
    auto costs = fixture.start(loop);
    costs.load(fixture.database.start_connection());
    co_await fixture.make_agents();
    co_await body(fixture, costs);
  });
}

std::vector<std::string> texts(const std::vector<AgentCost>& rows) {
  std::vector<std::string> found;
  for (const auto& row : rows) found.push_back(row.name + " " + std::to_string(row.cost));
  return found;
}

TEST(Costs, AreNoneAtFirst) {
  with_cost_fixture([](CostFixture&, Costs& costs) -> Task<> {
    const auto report = co_await costs.report(CostPeriod::month);
    EXPECT_EQ(report.today + report.week + report.month, 0);
    EXPECT_TRUE(report.by_agent.empty() && report.by_model.empty() && report.by_thread.empty());
    EXPECT_TRUE(report.unpriced.empty());
    EXPECT_EQ(report.days.size(), 30u);
    EXPECT_EQ(report.days.front().date, "2026-02-09");
    EXPECT_EQ(report.days.back().date, "2026-03-10");
  });
}

TEST(Costs, AddUpByAgentModelAndThreadTheMostExpensiveFirst) {
  with_cost_fixture([](CostFixture& fixture, Costs& costs) -> Task<> {
    co_await fixture.pay(costs, fixture.ann, 0.1);
    co_await fixture.pay(costs, fixture.ann, 0.2);
    co_await fixture.pay(costs, fixture.bob, 1.5, "other");
    const auto report = co_await costs.report(CostPeriod::today);
    EXPECT_EQ(report.today, 1.8);
    EXPECT_THAT(texts(report.by_agent), ElementsAre("bob 1.500000", "ann 0.300000"));
    EXPECT_EQ(report.by_agent.back().cost, 0.3);
    EXPECT_EQ(report.by_model.front().model, "stub/other");
    EXPECT_EQ(report.by_thread.front().title, "Sums");
    EXPECT_EQ(report.days.back().cost, 1.8);
  });
}

TEST(Costs, BeginANewDayAtTheZonesMidnight) {
  with_cost_fixture([](CostFixture& fixture, Costs& costs) -> Task<> {
    co_await fixture.pay(costs, fixture.ann, 1.0);
    fixture.clock.time += std::chrono::minutes{20};
    co_await fixture.pay(costs, fixture.bob, 0.5);
    const auto report = co_await costs.report(CostPeriod::today);
    EXPECT_EQ(report.today, 0.5);
    EXPECT_EQ(report.week, 1.5);
    EXPECT_EQ(report.days.back().date, "2026-03-11");
    EXPECT_EQ(report.days[28].cost, 1.0);
    EXPECT_THAT(texts(report.by_agent), ElementsAre("bob 0.500000"));
  });
}

TEST(Costs, TakeTodayIntoTheSevenAndThirtyDays) {
  with_cost_fixture([](CostFixture& fixture, Costs& costs) -> Task<> {
    fixture.clock.time -= std::chrono::hours{12};  // the week includes a change of daylight saving time
    co_await fixture.pay(costs, fixture.bob, 1.0);
    fixture.clock.time += std::chrono::days{6};
    EXPECT_EQ((co_await costs.report(CostPeriod::week)).week, 1.0);
    EXPECT_EQ((co_await costs.report(CostPeriod::week)).by_model.size(), 1u);
    fixture.clock.time += std::chrono::days{1};
    EXPECT_EQ((co_await costs.report(CostPeriod::week)).week, 0.0);
    EXPECT_EQ((co_await costs.report(CostPeriod::week)).by_model.size(), 0u);
    fixture.clock.time += std::chrono::days{22};
    EXPECT_EQ((co_await costs.report(CostPeriod::month)).month, 1.0);
    fixture.clock.time += std::chrono::days{1};
    EXPECT_EQ((co_await costs.report(CostPeriod::month)).month, 0.0);
  });
}

TEST(Costs, NameModelsWithoutAPrice) {
  with_cost_fixture([](CostFixture& fixture, Costs& costs) -> Task<> {
    co_await fixture.pay(costs, fixture.bob, std::nullopt, "new");
    co_await fixture.pay(costs, fixture.bob, 0.0, "offline/librarian");
    const auto report = co_await costs.report(CostPeriod::today);
    EXPECT_THAT(report.unpriced, ElementsAre("stub/new"));
    EXPECT_EQ(report.by_model.size(), 2u);
    EXPECT_EQ(report.today, 0);
    EXPECT_TRUE(report.by_thread.empty());
  });
}

TEST(Costs, KeepTheNamesOfDeletedRecords) {
  with_cost_fixture([](CostFixture& fixture, Costs& costs) -> Task<> {
    co_await fixture.pay(costs, fixture.bob, 1.0);
    co_await fixture.extensions.remove("bob");
    co_await fixture.threads.remove(fixture.thread);
    const auto report = co_await costs.report(CostPeriod::today);
    EXPECT_THAT(texts(report.by_agent), ElementsAre("bob 1.000000"));
    EXPECT_EQ(report.by_thread.front().title, std::nullopt);
  });
}

TEST(Budgets, LimitWhatAnAgentSpendsInADay) {
  with_cost_fixture([](CostFixture& fixture, Costs& costs) -> Task<> {
    costs.spend(*fixture.ann, fixture.thread, answer_for(1.99));
    EXPECT_TRUE(costs.may_spend(*fixture.ann));
    costs.spend(*fixture.ann, fixture.thread, answer_for(0.01));
    EXPECT_FALSE(costs.may_spend(*fixture.ann));
    EXPECT_TRUE(costs.may_spend(*fixture.bob));
    fixture.clock.time += std::chrono::minutes{20};
    EXPECT_TRUE(costs.may_spend(*fixture.ann)) << "the next day has begun";
    co_return;
  });
}

TEST(Budgets, LimitWhatAllSpendInADay) {
  with_cost_fixture([](CostFixture& fixture, Costs& costs) -> Task<> {
    costs.spend(*fixture.bob, fixture.thread, answer_for(5.0));
    EXPECT_FALSE(costs.may_spend(*fixture.bob));
    EXPECT_FALSE(costs.may_spend(*fixture.ann));
    co_return;
  });
}

TEST(Budgets, OfNothingAllowNothing) {
  with_cost_fixture([](CostFixture& fixture, Costs& costs) -> Task<> {
    EXPECT_FALSE(costs.may_spend(*co_await fixture.make_agent("poor", R"({"budget_usd_per_day": 0})")));
  });
}

TEST(Budgets, AreKnownAfterARestart) {
  testing::run([](Loop& loop) -> Task<> {
    const testing::ScratchDirectory directory;
    {
      CostFixture fixture(loop, directory);
      auto costs = fixture.start(loop);
      co_await fixture.make_agents();
      fixture.clock.time = *parse_iso8601("2026-03-10T22:45:00Z");
      co_await fixture.pay(costs, fixture.ann, 2.0);
    }
    CostFixture fixture(loop, directory);
    auto costs = fixture.start(loop);
    costs.load(fixture.database.start_connection());
    EXPECT_FALSE(costs.may_spend(*fixture.extensions.find_agent("ann")));
    EXPECT_TRUE(costs.may_spend(*fixture.extensions.find_agent("bob")));
  });
}

TEST(Costs, SumUpTheUseOfEachModelSinceTheStart) {
  with_cost_fixture([](CostFixture& fixture, Costs& costs) -> Task<> {
    costs.spend(*fixture.ann, fixture.thread, answer_for(0.5, {.input_tokens = 10, .output_tokens = 2}));
    costs.spend(*fixture.bob, fixture.thread, answer_for(std::nullopt, {.input_tokens = 5, .cache_read_tokens = 7}));
    const auto& used = costs.used().at(talker);
    EXPECT_EQ(used.calls, 2U);
    EXPECT_EQ(used.usage, (Usage{.input_tokens = 15, .output_tokens = 2, .cache_read_tokens = 7}));
    EXPECT_EQ(used.usd, 0.5);
    for (int i = 0; i < 200; ++i)
      costs.spend(*fixture.ann, fixture.thread, answer_for(0.0, {.output_tokens = 1}, "up-" + std::to_string(i)));
    EXPECT_EQ(costs.used().size(), 101U);
    EXPECT_EQ(costs.used().at("other").calls, 101U);
    co_return;
  });
}

}  // namespace
}  // namespace agw
