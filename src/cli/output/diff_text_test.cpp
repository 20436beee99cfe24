#include <gtest/gtest.h>

#include "cli/output/terminal.hpp"

namespace agw::cli {
namespace {

constexpr Terminal plain{};
constexpr Terminal coloured{.present = true, .colours = true};
constexpr auto diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n";

TEST(DiffText, IsPlainWithoutColours) { EXPECT_EQ(diff_text(diff, plain), diff); }

TEST(DiffText, ColoursAddedAndRemovedLines) {
  EXPECT_EQ(
      diff_text(diff, coloured),
      "\x1b[31m--- a/x\x1b[0m\n\x1b[32m+++ b/x\x1b[0m\n\x1b[36m@@ -1,2 +1,2 @@\x1b[0m\n same\n\x1b[31m-old\x1b[0m\n"
      "\x1b[32m+new\x1b[0m\n");
}

TEST(DiffText, EscapesTerminalControls) {
  EXPECT_EQ(diff_text("+\x1b[2J\u202e", plain), "+\\x1b[2J\\u202e\n");
  EXPECT_EQ(diff_text("", plain), "");
}

}  // namespace
}  // namespace agw::cli
