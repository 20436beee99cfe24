#include "base/text/unified_diff.hpp"

#include <chrono>
#include <sstream>
#include <vector>

#include <gtest/gtest.h>

#include "testing/cpu_time.hpp"

namespace agw {
namespace {

std::string diff(std::string_view before, std::string_view after) { return unified_diff(before, after, "a", "b"); }

std::string body_of(std::string text) { return text.substr(text.find("@@")); }

/// Applies the diff to `before`, as patch(1) does.
std::string patched(const std::string& before, const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(before);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::istringstream hunks(text);
  std::string out;
  std::size_t at = 0;
  for (std::string line; std::getline(hunks, line);) {
    if (line.starts_with("---") || line.starts_with("+++")) continue;
    int first = 0, count = 0;
    if (std::sscanf(line.c_str(), "@@ -%d,%d", &first, &count) == 2) {
      const auto begin = static_cast<std::size_t>(count == 0 ? first : first - 1);
      while (at < begin) out += lines[at++] + "\n";
    } else if (line[0] == '+') {
      out += line.substr(1) + "\n";
    } else {
      EXPECT_EQ(line.substr(1), lines.at(at));
      if (line[0] == ' ') out += lines[at] + "\n";
      ++at;
    }
  }
  while (at < lines.size()) out += lines[at++] + "\n";
  return out;
}

TEST(UnifiedDiff, IsEmptyWhereNothingChanges) {
  EXPECT_EQ(diff("", ""), "");
  EXPECT_EQ(diff("a\nb", "a\nb"), "");
}

TEST(UnifiedDiff, ShowsThreeLinesAroundAChange) {
  EXPECT_EQ(diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
            "--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST(UnifiedDiff, NumbersAnEmptyRangeByThePrecedingLine) {
  EXPECT_EQ(body_of(diff("", "a\n")), "@@ -0,0 +1,1 @@\n+a\n");
  EXPECT_EQ(body_of(diff("a\n", "")), "@@ -1,1 +0,0 @@\n-a\n");
}

TEST(UnifiedDiff, MarksAMissingFinalLineFeed) {
  EXPECT_EQ(body_of(diff("a", "a\n")), "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n");
}

TEST(UnifiedDiff, SharesAHunkBetweenChangesThatAreNear) {
  EXPECT_EQ(body_of(diff("a\n1\n2\n3\n4\n5\n6\nb\n", "A\n1\n2\n3\n4\n5\n6\nB\n")),
            "@@ -1,8 +1,8 @@\n-a\n+A\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+B\n");
  EXPECT_EQ(body_of(diff("a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nB\n")),
            "@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+B\n");
}

TEST(UnifiedDiff, TurnsAnyTextIntoAnyOther) {
  unsigned seed = 7;
  const auto text = [&](unsigned lines) {
    std::string made;
    for (unsigned line = 0; line < lines; ++line) {
      seed = seed * 1'664'525 + 1'013'904'223;
      made += std::string(1, static_cast<char>('a' + (seed >> 16) % 4)) + "\n";
    }
    return made;
  };
  for (unsigned round = 0; round < 300; ++round) {
    const auto before = text(round % 17), after = text(round % 23);
    EXPECT_EQ(patched(before, diff(before, after)), after);
  }
}

TEST(UnifiedDiff, IsFastForEntirelyDifferentTexts) {
  std::string before, after;
  for (int line = 0; line < 50'000; ++line) {
    before += "a" + std::to_string(line) + "\n";
    after += "b" + std::to_string(line) + "\n";
  }
  const auto began = testing::cpu_time();
  EXPECT_EQ(patched(before, diff(before, after)), after);
  EXPECT_LT(testing::cpu_time() - began, std::chrono::seconds(10));
}

}  // namespace
}  // namespace agw
