#include "cli/transfer/export_text.hpp"

#include <gtest/gtest.h>

namespace agw::cli {

namespace {

std::optional<std::string> no_files(const std::string&) { return std::nullopt; }

}  // namespace

TEST(ExportText, FencesAreLongerThanThoseInTheirContent) {
  const json::object turn{{"role", "tool"},
                          {"content", "a\n````\nb"},
                          {"created_at", "now"},
                          {"metadata", json::object{{"tool_name", "Read"}, {"input", json::object{{"path", "x"}}}}}};
  EXPECT_EQ(markdown_turn(turn, no_files),
            "\n## tool Read · now\n\n```json\n{\"path\":\"x\"}\n```\n\n`````\na\n````\nb\n`````\n");
}

TEST(ExportText, ReasoningIsAQuotationThatNoLineEnds) {
  const json::object turn{{"role", "assistant"},
                          {"content", "Three."},
                          {"created_at", "now"},
                          {"metadata", json::object{{"reasoning", "One\n\n## user"}}}};
  EXPECT_EQ(markdown_turn(turn, no_files),
            "\n## assistant · now\n\n> **Reasoning**\n>\n> One\n> \n> ## user\n\nThree.\n");
}

TEST(ExportText, FilesAreNamedAndLinkedWhereTheyAre) {
  const json::array files{json::object{{"id", "here"}, {"name", "a [b](c)\n.png"}, {"mime", "image/png"}},
                          json::object{{"id", "gone"}, {"name", "old"}}, 7};
  const json::object turn{
      {"role", "user"}, {"content", "See."}, {"created_at", "now"}, {"metadata", json::object{{"attachments", files}}}};
  const auto link = [](const std::string& id) { return id == "here" ? std::optional("../files/" + id) : std::nullopt; };
  EXPECT_EQ(markdown_turn(turn, link),
            "\n## user · now\n\nSee.\n\n- Attached: [a \\[b\\](c).png](../files/here) (image/png)\n"
            "- Attached: old\n");
  EXPECT_NE(html_turn(turn, {}).find("<div>Attached: old</div>"), std::string::npos);
}

TEST(ExportText, PagesEscapeTheirContent) {
  const json::object turn{{"role", "user"}, {"content", "<b>&\"' key"}, {"created_at", "now"}};
  const auto page = html_turn(turn, {"key"});
  EXPECT_NE(page.find("<div>&lt;b&gt;&amp;&quot;&#39; [secret]</div>"), page.npos) << page;
}

TEST(ExportText, NoPartOfALongerSecretIsLeft) {
  const std::vector<std::string> secrets{"abcd", "abcdefgh"};
  EXPECT_EQ(without_secrets("abcdefgh abcdabcd xabcde", secrets), "[secret] [secret][secret] x[secret]e");
  EXPECT_EQ(without_secrets("", secrets), "");
}

TEST(ExportText, TitlesAndNamesOfToolsHideSecretsAndStayMarkup) {
  const std::vector<std::string> secrets{"a<b&c", "body"};
  const auto head = html_head({{"title", "My a<b&c body"}}, secrets);
  EXPECT_NE(head.find("<h1>My [secret] [secret]</h1>"), head.npos) << head;
  EXPECT_NE(head.find("<body>"), head.npos);
  const auto turn = html_turn({{"role", "tool"}, {"metadata", json::object{{"tool_name", "a<b&c"}}}}, secrets);
  EXPECT_NE(turn.find("tool [secret]"), turn.npos) << turn;
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
