#include "cli/output/log_line.hpp"

#include <gtest/gtest.h>

namespace agw::cli {
namespace {

TEST(LogLine, ATextLineIsParsed) {
  const auto line = read_log_line("2026-01-02T03:04:05.678Z warning it took long = run request=ab-7 run=r1");
  EXPECT_EQ(line.time, "2026-01-02T03:04:05.678Z");
  EXPECT_EQ(line.level, "warning");
  EXPECT_EQ(line.message, "it took long = run");
  EXPECT_EQ(line.request, "ab-7");
  EXPECT_EQ(line.run, "r1");
}

TEST(LogLine, AJsonLineIsParsedAlike) {
  const auto text = R"({"time":"2026-01-02T03:04:05.678Z","level":"error","message":"a \"quoted\" one","run":"r1"})";
  const auto line = read_log_line(text);
  EXPECT_EQ(line.message, "a \"quoted\" one");
  EXPECT_EQ(line.run, "r1");
  EXPECT_EQ(to_json(as_object(line)), text);
}

TEST(LogLine, AForeignLineIsAMessageOfTheHighestLevel) {
  for (const auto* text : {"", "run=1", "{", "{\"half", "yesterday info x", "terminate called after throwing"}) {
    const auto line = read_log_line(text);
    EXPECT_EQ(line.message, text);
    EXPECT_EQ(level_of(line), log::Level::error);
  }
}

}  // namespace
}  // namespace agw::cli
