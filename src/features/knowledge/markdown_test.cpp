#include "features/knowledge/markdown.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

using List = std::vector<std::string>;

TEST(MarkdownOutline, SaysWhatATextIsAbout) {
  const auto outline = outline_of("intro [[a]]\n\n# Title *here*\n\nFirst `code`\nparagraph.\n\n## Next\n\n- item\n");
  EXPECT_EQ(outline.title, "Title here");
  EXPECT_EQ(outline.headings, (List{"Title here", "Next"}));
  EXPECT_EQ(outline.first_paragraph, "intro a");
  EXPECT_EQ(outline.plain_text, "intro a\nTitle here\nFirst code paragraph.\nNext\nitem");
}

TEST(MarkdownOutline, FindsLinksOnceAndNoneInCode) {
  const auto outline =
      outline_of("[[a|A]] [[a]] [[b#part]] `[[c]]` [x](../d.md#e) [y](https://e.f/g.md)\n\n    [[h]]\n");
  EXPECT_EQ(outline.wiki_links, (List{"a", "b"}));
  EXPECT_EQ(outline.file_links, (List{"d"}));
}

TEST(MarkdownOutline, TakesWordsInAngleBracketsForText) {
  EXPECT_EQ(outline_of("git rebase <upstream> <b>now</b>").plain_text, "git rebase <upstream> now");
}

TEST(SafeHtml, LeavesOutWhatIsNotMarkdown) {
  const auto none = [](std::string_view) -> std::optional<LinkPlace> { return std::nullopt; };
  EXPECT_EQ(safe_html("a<script>x</script>\n\n<div onclick=x>\n\n[b](javascript:x) ![c](https://d.e/f.png)", none),
            "<p>ax</p>\n<p>b <a href=\"https://d.e/f.png\">c</a></p>\n");
}

TEST(SafeHtml, LinksExistingPages) {
  const auto find = [](std::string_view target) -> std::optional<LinkPlace> {
    if (target != "a") return std::nullopt;
    return LinkPlace{"#/a", "Title <a>"};
  };
  EXPECT_EQ(safe_html("[[a]] [[a|other]] [[b]]", find),
            "<p><a href=\"#/a\">Title &lt;a&gt;</a> <a href=\"#/a\">other</a> b</p>\n");
}

}  // namespace
}  // namespace agw
