#include "features/knowledge/page_text.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

TEST(PageText, IsParsedAndWrittenAgain) {
  PageText page;
  page.head = {.title = "A: title",
               .summary = "\"quoted\"",
               .category = "no",
               .scope = "shared",
               .tags = {"x", "- y"},
               .sources = {"raw/a.md"},
               .entities = {{"Ada", "person"}, {"Acme", std::nullopt}},
               .updated_at = parse_iso8601("2026-01-02T03:04:05.678Z")};
  page.body = "# Body\n\n---\n\ntext\n";
  const auto again = read_page_text(write_page_text(page));
  EXPECT_EQ(again.head.title, page.head.title);
  EXPECT_EQ(again.head.summary, page.head.summary);
  EXPECT_EQ(again.head.category, "no");
  EXPECT_EQ(again.head.tags, page.head.tags);
  EXPECT_EQ(again.head.sources, page.head.sources);
  EXPECT_EQ(again.head.entities, page.head.entities);
  EXPECT_EQ(again.head.updated_at, page.head.updated_at);
  EXPECT_EQ(again.body, page.body);
}

TEST(PageText, NamesSourcesByTheirWholePaths) {
  PageText page;
  page.head.sources = {"raw/a  b.md",
                       "raw/ c.md",
                       "raw/tab\there.md",
                       "raw/line\nend.md",
                       "raw/ctl\x01.md",
                       "raw/" + std::string(400, 'x') + ".md",
                       "raw/no-break\u00a0blank.md"};
  EXPECT_EQ(read_page_text(write_page_text(page)).head.sources, page.head.sources);
}

TEST(PageText, NamesEntitiesAsAListAsOneOrWithCommas) {
  using List = std::vector<NamedEntity>;
  const auto entities = [](std::string head) {
    return read_page_text("---\nentities: " + head + "\n---\n").head.entities;
  };
  EXPECT_EQ(entities("[Ada, {name: Acme, type: company}]"), (List{{"Ada", std::nullopt}, {"Acme", "company"}}));
  EXPECT_EQ(entities("{name: Acme, type: company}"), (List{{"Acme", "company"}}));
  EXPECT_EQ(entities("Ada Lovelace, Acme"), (List{{"Ada Lovelace", std::nullopt}, {"Acme", std::nullopt}}));
  EXPECT_EQ(entities("Ada"), (List{{"Ada", std::nullopt}}));
  EXPECT_EQ(entities(""), List{});
}

TEST(PageText, ItsFencesMayHaveTrailingBlanks) {
  const auto page = read_page_text("---  \ntitle: T\n--- \ntext\n");
  EXPECT_EQ(page.head.title, "T");
  EXPECT_EQ(page.body, "text\n");
}

TEST(PageText, WithoutAHeadIsAllBody) {
  EXPECT_EQ(read_page_text("no head\n---\n").body, "no head\n---\n");
  EXPECT_EQ(read_page_text("---\nno end").body, "---\nno end");
  EXPECT_EQ(read_page_text("").body, "");
}

TEST(PageText, WithABrokenHeadHidesNothing) {
  const auto page = read_page_text("---\ntitle: [x\n---\ntext\n");
  EXPECT_FALSE(page.problem.empty());
  EXPECT_EQ(page.body, "---\ntitle: [x\n---\ntext\n");
}

TEST(PageText, TakesWindowsLineEndsAndAByteOrderMark) {
  const auto page = read_page_text("\xef\xbb\xbf---\r\ntitle: T\r\n---\r\n\r\ntext\r\n");
  EXPECT_EQ(page.head.title, "T");
  EXPECT_EQ(page.body, "text\r\n");
}

TEST(SingleLine, IsCutBetweenCharacters) {
  EXPECT_EQ(single_line(" a\n\tb ", 10), "a b");
  EXPECT_EQ(single_line("aéé", 4), "aé…");
  EXPECT_EQ(single_line("aé", 3), "aé");
}

TEST(Summary, EndsWithASentence) {
  EXPECT_EQ(summary_of("Short."), "Short.");
  const std::string first = "This sentence is long enough to say what the page is about, really.";
  EXPECT_EQ(summary_of(first + " This one is left out."), first);
}

}  // namespace
}  // namespace agw
