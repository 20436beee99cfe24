#include "features/channels/markup.hpp"

#include <gtest/gtest.h>

#include "base/json/json.hpp"

namespace agw {
namespace {

using Pieces = std::vector<std::string>;

TEST(SplitMarkdown, LeavesRoomForTheEndOfACodeBlock) {
  const auto pieces = split_markdown(std::string(57, 'x') + "\n```sh\nls\n```\n", 64);
  EXPECT_EQ(pieces, (std::vector<std::string>{std::string(57, 'x'), "```sh\nls\n```"}));
}

TEST(SplitMarkdown, KeepsParagraphsWhole) {
  EXPECT_EQ(split_markdown("one two\n\nthree four\n\nfive", 20), (Pieces{"one two\n\nthree four", "five"}));
  EXPECT_EQ(split_markdown("short", 20), Pieces{"short"});
  EXPECT_EQ(split_markdown("", 20), Pieces{});
}

TEST(SplitMarkdown, LeavesOutInvisiblePieces) {
  std::string blanks;
  for (int i = 0; i < 30; ++i) blanks += "\u3000\u200b";
  EXPECT_EQ(split_markdown("one\n\n" + blanks + "\n\ntwo", 20), (Pieces{"one", "two"}));
  EXPECT_EQ(split_markdown(blanks, 20), Pieces{});
}

TEST(SplitMarkdown, SplitsALongParagraphAtLinesThenAtBlanks) {
  EXPECT_EQ(split_markdown("aaaa\nbbbb\ncccc", 10), (Pieces{"aaaa\nbbbb", "cccc"}));
  EXPECT_EQ(split_markdown("aaaa bbbb cccc", 10), (Pieces{"aaaa bbbb", "cccc"}));
  EXPECT_EQ(split_markdown("abcdefghijklmno", 10), (Pieces{"abcdefghij", "klmno"}));
}

TEST(SplitMarkdown, ClosesAndReopensACodeBlock) {
  EXPECT_EQ(split_markdown("```c\none();\ntwo();\n```\nend", 20),
            (Pieces{"```c\none();\n```", "```c\ntwo();\n```\nend"}));
}

TEST(SplitMarkdown, NeverExceedsTheLimitNorLosesAWord) {
  std::string text;
  for (int i = 0; i < 400; ++i) {
    text += "word" + std::to_string(i) + (i % 7 == 0 ? "\n\n" : i % 5 == 0 ? "\n" : " ");
    if (i % 40 == 0) text += "\n```py\nprint(" + std::to_string(i) + ")\n" + std::string(30, 'x') + "\n```\n";
    if (i % 31 == 0) text += "😀😀😀";
  }
  for (const std::size_t limit : {40u, 64u, 100u, 333u}) {
    const auto pieces = split_markdown(text, limit);
    std::string all;
    for (const auto& piece : pieces) {
      EXPECT_LE(utf16_length(piece), limit);
      EXPECT_TRUE(is_utf8(piece));
      all += piece + "\n";
    }
    for (int i = 0; i < 400; ++i) EXPECT_NE(all.find("word" + std::to_string(i)), all.npos) << i << " at " << limit;
  }
}

TEST(SplitMarkdown, TakesNoLongerPerLineForManyLines) {
  std::string lines;
  for (int i = 0; i < 2'000'000; ++i) lines += "a\n";
  EXPECT_EQ(split_markdown(lines, 500'000).size(), 8U);
  EXPECT_EQ(split_markdown(std::string(4'000'000, '`'), 400).size(), 10'000U);
}

TEST(TelegramHtml, HasOnlyTheTagsThatTelegramShows) {
  EXPECT_EQ(telegram_html("# Title\n\nSome **bold**, *slanted*, ~~old~~ `a<b`."),
            "<b>Title</b>\n\nSome <b>bold</b>, <i>slanted</i>, <s>old</s> <code>a&lt;b</code>.");
  EXPECT_EQ(telegram_html("```c\nif (a < b) {}\n```"), "<pre><code class=\"language-c\">if (a &lt; b) {}</code></pre>");
  EXPECT_EQ(telegram_html("See [this](https://example.org/?a=1&b=2)."),
            "See <a href=\"https://example.org/?a=1&amp;b=2\">this</a>.");
  EXPECT_EQ(telegram_html("Text:\n\n- one\n- two\n  1. deep\n\n> said"),
            "Text:\n\n• one\n• two\n  1. deep\n\n<blockquote>said</blockquote>");
  EXPECT_EQ(telegram_html("-\n- one\n\n>\n\nText"), "• \n• one\n\n<blockquote></blockquote>\n\nText");
  EXPECT_EQ(telegram_html("| a | b |\n|---|---|\n| **1** | 2 |"), "<pre>a | b\n1 | 2</pre>");
}

TEST(TelegramHtml, PassesOnNothingExecutable) {
  EXPECT_EQ(telegram_html("a <b onclick=x> b"), "a &lt;b onclick=x&gt; b");
  EXPECT_EQ(telegram_html("[x](javascript:alert) [y](tg://user?id=1)"), "x y");
}

TEST(StyledText, IsMarkdownAsXmppClientsStyleIt) {
  EXPECT_EQ(styled_text("# Title\n\nSome **bold**, *slanted*, ~~old~~ `a<b`."),
            "*Title*\n\nSome *bold*, _slanted_, ~old~ `a<b`.");
  EXPECT_EQ(styled_text("```c\nif (a < b) {}\n\nend();\n```\nText"), "```c\nif (a < b) {}\n\nend();\n```\n\nText");
  EXPECT_EQ(styled_text("See [this](https://example.org/?a=1&b=2) or <https://example.org/>."),
            "See this (https://example.org/?a=1&b=2) or https://example.org/.");
  EXPECT_EQ(styled_text("Text:\n\n- one\n- two\n  1. deep\n\n> said\n> twice"),
            "Text:\n\n• one\n• two\n  1. deep\n\n> said\n> twice");
  EXPECT_EQ(styled_text("| a | b |\n|---|---|\n| **1** | 2 |"), "```\na | b\n1 | 2\n```");
}

TEST(Utf16, CountsAsMessengersDo) {
  EXPECT_EQ(utf16_length("aä😀"), 4u);
  EXPECT_EQ(utf16_prefix("aä😀b", 3), "aä");
}

TEST(AnswerHtml, ShowsRawHtmlAsItWasWritten) {
  EXPECT_EQ(answer_html("A List<String> of *b*"), "<p>A List&lt;String&gt; of <em>b</em></p>\n");
  EXPECT_EQ(answer_html("<div>\nx\n</div>\n\nend"), "<p>&lt;div&gt;\nx\n&lt;/div&gt;\n</p>\n<p>end</p>\n");
}

TEST(AnswerHtml, LoadsNoImages) {
  EXPECT_EQ(answer_html("![A *b*](https://example.org/?q=1)"),
            "<p><a href=\"https://example.org/?q=1\">A <em>b</em></a></p>\n");
  EXPECT_EQ(answer_html("![](https://example.org/)"),
            "<p><a href=\"https://example.org/\">https://example.org/</a></p>\n");
  EXPECT_EQ(answer_html("[![a](https://a.example/)](https://b.example/)"),
            "<p><a href=\"https://b.example/\">a</a></p>\n");
  EXPECT_EQ(answer_html("![a ![b](https://b.example/)](https://a.example/)"),
            "<p><a href=\"https://a.example/\">a b</a></p>\n");
  EXPECT_EQ(answer_html("![a](javascript:b)"), "<p><a href=\"\">a</a></p>\n");
}

}  // namespace
}  // namespace agw
