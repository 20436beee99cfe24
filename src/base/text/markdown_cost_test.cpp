#include "base/text/markdown_cost.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/text/markdown_tree.hpp"

namespace agw {
namespace {

std::string repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(MarkdownCost, IsHighForTablesThatAreMostlyEmpty) {
  const auto table = repeated("|a", 10'000) + "\n" + repeated("|-", 10'000) + "\n" + repeated("|b\n", 10'000);
  EXPECT_TRUE(is_costly_markdown(table));
  EXPECT_TRUE(is_costly_markdown("> " + repeated("|a", 10'000) + "\r\n> " + repeated("|-", 10'000) + "\r\n" +
                                 repeated("> |b\r\n", 10'000)));
}

TEST(MarkdownCost, IsHighForVeryWideTables) {
  EXPECT_TRUE(is_costly_markdown(repeated("|a", 20'000) + "\n" + repeated("|-", 20'000) + "\n"));
}

TEST(MarkdownCost, IsHighForManyBeginningsOfTablesInAParagraph) {
  EXPECT_TRUE(is_costly_markdown(repeated("|-|\n|-|-|\n", 5'000)));
}

TEST(MarkdownCost, IsHighForManyReferencesToALongAddress) {
  const auto address = repeated("u", 30'000);
  for (const std::string before : {"", "- ", "> 1. "})
    EXPECT_TRUE(is_costly_markdown(before + "[a]: " + address + "\n\n" + repeated("[a] ", 10'000)));
  EXPECT_TRUE(is_costly_markdown("[a\nb]:\n" + address + "\n\n" + repeated("[a b]", 10'000)));
}

TEST(MarkdownCost, IsHighForTextsOfMarks) {
  for (const std::string mark : {"[", "[[a\n", "*a_", "> ", "1) ", "# a\n", "`", "&", "\\[", "a@", "~~a", "w", ":"})
    EXPECT_TRUE(is_costly_markdown(repeated(mark, 1'000'000))) << mark;
}

TEST(MarkdownCost, IsLowForLongDocuments) {
  EXPECT_FALSE(is_costly_markdown(""));
  EXPECT_FALSE(is_costly_markdown(repeated("Some words, and more of them.\n\n", 100'000)));
  EXPECT_FALSE(is_costly_markdown(repeated("| a | b | c |\n|---|---|---|\n| 1 | 2 | 3 |\n| 4 | 5 | 6 |\n\n", 20'000)));
  EXPECT_FALSE(is_costly_markdown("|a|b|\n|-|-|\n" + repeated("|x|y|\n", 100'000)));
  EXPECT_FALSE(is_costly_markdown(repeated("- [x] done: 1 | 2\n", 50'000)));
  EXPECT_FALSE(is_costly_markdown(repeated("[a]: https://example.org/a/long/address/of/a/page\n", 2'000) + "\n" +
                                  repeated("See [a] and [b](https://example.org). ", 5'000)));
}

TEST(MarkdownTree, ShowsACostlyTextAsCode) {
  const auto html = MarkdownTree("# A\n\n" + repeated("|-|\n|-|-|\n", 5'000)).html();
  EXPECT_TRUE(html.starts_with("<pre><code># A\n\n|-|\n")) << html.substr(0, 100);
  EXPECT_TRUE(html.ends_with("|-|-|\n</code></pre>\n"));
  EXPECT_TRUE(MarkdownTree("a\r\nb\r" + repeated("|-|\r|-|-|\r", 5'000)).html().starts_with("<pre><code>a\nb\n|-|\n"));
}

}  // namespace
}  // namespace agw
