#include "cli/transfer/export_text.hpp"

#include <gtest/gtest.h>

namespace agw::cli {

TEST(ExportText, FencesOutliveWhatTheyHold) {
  const json::object turn{{"role", "tool"},
                          {"content", "a\n````\nb"},
                          {"created_at", "now"},
                          {"metadata", json::object{{"tool_name", "Read"}, {"input", json::object{{"path", "x"}}}}}};
  EXPECT_EQ(markdown_turn(turn),
            "\n## tool Read · now\n\n```json\n{\"path\":\"x\"}\n```\n\n`````\na\n````\nb\n`````\n");
}

TEST(ExportText, PagesEscapeWhatTheyShow) {
  const json::object turn{{"role", "user"}, {"content", "<b>&\"' key"}, {"created_at", "now"}};
  const auto page = html_turn(turn, {"key"});
  EXPECT_NE(page.find("<div>&lt;b&gt;&amp;&quot;&#39; [secret]</div>"), page.npos) << page;
}

TEST(ExportText, PagesShowOfAToolOnlyItsName) {
  const json::object turn{
      {"role", "tool"},
      {"content", "output"},
      {"created_at", "now"},
      {"metadata", json::object{{"tool_name", "Read"}, {"input", json::object{{"path", "input"}}}}}};
  const auto page = html_turn(turn, {});
  EXPECT_NE(page.find("tool Read"), page.npos);
  EXPECT_EQ(page.find("output"), page.npos);
  EXPECT_EQ(page.find("input"), page.npos);
}

}  // namespace agw::cli
