#include "features/experiments/service.hpp"

#include <gtest/gtest.h>

#include "base/id.hpp"
#include "features/experiments/confidence.hpp"
#include "storage/database.hpp"
#include "testing/run.hpp"
#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

constexpr auto keep = Verdict::keep;
constexpr auto discard = Verdict::discard;

TEST(ConfidenceTest, IsTheDistanceOfTheBestKeptValueInSpreads) {
  // median 3, distances 2 1 0 1 2: mad 1; best kept 4, baseline 1.
  const auto found = confidence_of({{1, keep}, {2, keep}, {3, discard}, {4, keep}, {5, discard}}, true);
  EXPECT_EQ(found.sampleSize, 5);
  EXPECT_DOUBLE_EQ(found.mad, 1);
  EXPECT_DOUBLE_EQ(found.confidence, 3);
}

TEST(ConfidenceTest, TakesTheMeanOfTheMiddleTwoOfAnEvenNumber) {
  EXPECT_DOUBLE_EQ(median_of({4, 1, 3, 2}), 2.5);
  EXPECT_DOUBLE_EQ(median_of({7}), 7);
  EXPECT_DOUBLE_EQ(median_of({}), 0);
}

TEST(ConfidenceTest, TheLowestIsTheBestWhereLowerIsBetter) {
  const auto found = confidence_of({{10, discard}, {8, keep}, {9, keep}, {6, keep}, {11, discard}}, false);
  EXPECT_DOUBLE_EQ(found.mad, 1);
  EXPECT_DOUBLE_EQ(found.confidence, 4);
}

TEST(ConfidenceTest, IsNothingWithFewerThanThreeValuesOrNoneKept) {
  EXPECT_EQ(confidence_of({}, true).confidence, 0);
  EXPECT_EQ(confidence_of({{1, keep}, {2, keep}}, true).confidence, 0);
  EXPECT_EQ(confidence_of({{1, discard}, {2, discard}, {3, discard}}, true).confidence, 0);
}

TEST(ConfidenceTest, IsCappedAndEffectivelyCertainWithoutSpread) {
  EXPECT_EQ(confidence_of({{1, keep}, {1, keep}, {1, keep}}, true).confidence, 9999);
  EXPECT_EQ(confidence_of({{0, keep}, {1e-8, discard}, {2e-8, discard}, {1e9, keep}}, true).confidence, 9999);
}

TEST(ConfidenceTest, TheGreatestNumbersThereAreStayNumbers) {
  const auto greatest = std::numeric_limits<double>::max();
  const auto found = confidence_of({{-greatest, keep}, {greatest, keep}, {-greatest, keep}, {greatest, keep}}, true);
  EXPECT_TRUE(std::isfinite(found.mad));
  EXPECT_TRUE(std::isfinite(found.confidence));
}

struct ExperimentsFixture {
  explicit ExperimentsFixture(Loop& loop)
      : database(loop, {.file = directory.path() / "gateway.db", .backups = directory.path() / "backups"}),
        experiments(database) {}

  Task<> record(Verdict verdict, std::optional<std::string> metric, std::optional<double> value) {
    const Experiment made{
        .id = new_id(), .domain = "agent:writer", .verdict = verdict, .metric = metric, .value = value};
    co_await database.write([made](Connection& connection) { Experiments::record(connection, made); });
  }

  testing::ScratchDirectory directory;
  Database database;
  Experiments experiments;
};

TEST(ExperimentsTest, DiscardsAndCrashesBehindTheLastKeepAreCounted) {
  testing::run([](Loop& loop) -> Task<> {
    ExperimentsFixture fixture(loop);
    co_await fixture.record(Verdict::discard, "quality", 1);
    co_await fixture.record(Verdict::keep, "quality", 2);
    co_await fixture.record(Verdict::discard, "quality", 1);
    co_await fixture.record(Verdict::crash, std::nullopt, std::nullopt);
    co_await fixture.record(Verdict::keep, std::nullopt, std::nullopt);  // a person's decision
    co_await fixture.record(Verdict::discard, "speed", 1);
    const auto quality = co_await fixture.experiments.confidence({.domain = "agent:writer"});
    EXPECT_EQ(quality.consecutiveDiscards, 2);
    EXPECT_EQ(quality.confidence.sampleSize, 3);
    const auto speed = co_await fixture.experiments.confidence({.domain = "agent:writer", .metric = "speed"});
    EXPECT_EQ(speed.consecutiveDiscards, 2) << "its own discard and the crash";
    const auto unknown = co_await fixture.experiments.confidence({.domain = "agent:nobody"});
    EXPECT_EQ(to_json(unknown),
              R"({"domain":"agent:nobody","metric":"quality","confidence":{"confidence":0,"sampleSize":0,"mad":0},)"
              R"("consecutiveDiscards":0})");
  });
}

TEST(ExperimentsTest, EveryValueIsCountedAsItWasRecorded) {
  testing::run([](Loop& loop) -> Task<> {
    ExperimentsFixture fixture(loop);
    // More than one row of samples can hold. The order matters, because the first one is the baseline.
    std::vector<Measurement> all;
    for (int number = 0; number < 2500; ++number) {
      all.push_back({number / 3.0 * (number % 2 == 0 ? 1e-7 : -1e9), number % 5 == 0 ? keep : discard});
    }
    co_await fixture.database.write([all](Connection& connection) {
      for (const auto& [value, verdict] : all) {
        Experiments::record(
            connection,
            {.id = new_id(), .domain = "agent:writer", .verdict = verdict, .metric = "quality", .value = value});
      }
    });
    const auto found = co_await fixture.experiments.confidence({.domain = "agent:writer"});
    EXPECT_EQ(to_json(found.confidence), to_json(confidence_of(all, true)));
  });
}

}  // namespace
}  // namespace agw
