#include "features/research/metric.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

std::string read_metric(std::string_view output) {
  MetricReader reader;
  // Added in pieces, as they arrive from a pipe.
  for (std::size_t at = 0; at < output.size(); at += 7) reader.add(output.substr(at, 7));
  reader.finish();
  const auto& metric = reader.metric();
  if (!metric) return reader.problem();
  return metric->name + " " + std::to_string(metric->value) + " " + metric->unit.value_or("-") +
         (metric->higher_is_better ? "" : " lower");
}

TEST(MetricTest, IsReadFromItsLine) {
  EXPECT_EQ(read_metric("hello\nMETRIC quality=0.5\nbye\n"), "quality 0.500000 -");
  EXPECT_EQ(read_metric("METRIC speed=-1.5e3"), "speed -1500.000000 -") << "the last line may have no end";
  EXPECT_EQ(read_metric("METRIC\tspeed=+2\r\n"), "speed 2.000000 -");
}

TEST(MetricTest, MayHaveAUnitAndADirection) {
  EXPECT_EQ(read_metric("METRIC latency=12.5ms better=lower\n"), "latency 12.500000 ms lower");
  EXPECT_EQ(read_metric("METRIC size=7 unit=KiB better=higher\n"), "size 7.000000 KiB");
  EXPECT_EQ(read_metric("METRIC share=0%\n"), "share 0.000000 %");
  EXPECT_EQ(read_metric("METRIC area=5m2\n"), "area 5.000000 m2");
  EXPECT_EQ(read_metric("METRIC sent=0bytes\n"), "sent 0.000000 bytes");
  EXPECT_EQ(read_metric("METRIC speed=0x\n"), "speed 0.000000 x");
}

TEST(MetricTest, TheFirstNameCountsWithItsLastValue) {
  EXPECT_EQ(read_metric("METRIC a=1\nMETRIC b=2\nMETRIC a=3\n"), "a 3.000000 -");
}

TEST(MetricTest, OtherLinesAreIgnored) {
  for (const auto* output : {"", "metric quality=1\n", " METRIC quality=1\n", "METRICS quality=1\n", "METRIC quality\n",
                             "METRIC =1\n", "METRIC a b=1\n", "METRIC q\xc3\xa4=1\n"}) {
    EXPECT_EQ(read_metric(output), "the benchmark printed no line METRIC name=value") << output;
  }
}

TEST(MetricTest, NonFiniteNumbersAreReported) {
  for (const auto* value : {"NaN", "nan", "inf", "-inf", "1e999", "", "x", "--1", "+-1", "++1", "1,5", "0x10", "0b11",
                            "-0X1f", "1_000", "1'000", "1.2.3", "1e3.5", "1:30"}) {
    EXPECT_EQ(read_metric(std::string("METRIC quality=") + value + "\n"),
              std::string("the benchmark's quality is no number: ") + value);
  }
  EXPECT_EQ(read_metric("METRIC quality=1\nMETRIC quality=NaN\n"), "the benchmark's quality is no number: NaN");
}

TEST(MetricTest, AMillionLinesAndEndlessOnesTakeNoMemory) {
  MetricReader reader;
  for (int line = 0; line < 1'000'000; ++line) reader.add("noise\n");
  reader.add("METRIC quality=");
  for (int piece = 0; piece < 10'000; ++piece) reader.add(std::string(1000, '1'));
  reader.add("\nMETRIC quality=2\n");
  ASSERT_TRUE(reader.metric());
  EXPECT_EQ(reader.metric()->value, 2);
}

TEST(ScoreTest, IsTheFirstNumberFromZeroToOne) {
  EXPECT_EQ(read_score("0.75"), 0.75);
  EXPECT_EQ(read_score(R"({"score": 1})"), 1);
  EXPECT_EQ(read_score("Score: .5 of 1"), 0.5);
  for (const auto* answer : {"", "good", "7", "-0.5", "nan", "1.5"}) EXPECT_FALSE(read_score(answer)) << answer;
}

}  // namespace
}  // namespace agw
