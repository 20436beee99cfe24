#include "models/think_tags.hpp"

#include <initializer_list>

#include <gtest/gtest.h>

namespace agw {
namespace {

/// The thoughts and the text, with `|` between them.
std::string separated(std::initializer_list<std::string_view> deltas, bool are_open = false, bool has_text = true) {
  ThinkTags tags(are_open);
  ThinkTags::Pieces all;
  const auto take = [&all](const ThinkTags::Pieces& pieces) {
    all.thoughts += pieces.thoughts;
    all.text += pieces.text;
  };
  for (const auto delta : deltas) take(tags.add(delta));
  take(tags.finish(has_text));
  return all.thoughts + "|" + all.text;
}

TEST(ThinkTags, SeparateThoughtsFromTheAnswer) {
  EXPECT_EQ(separated({"<think>\nHm <b>?</think>\n\nHello <think>"}), "Hm <b>?|Hello <think>");
  EXPECT_EQ(separated({"\n<th", "ink>H", "m</", "x></thi", "nk>", "\n", "Hello"}), "Hm</x>|Hello");
  EXPECT_EQ(separated({"<think>\n\n</think>\n\n", "Hello"}), "|Hello");
}

TEST(ThinkTags, AreMistralsToo) {
  EXPECT_EQ(separated({"[THI", "NK]Hm</think>[/TH", "INK]", "\nHello"}), "Hm</think>|Hello");
}

TEST(ThinkTags, DropAClosingTagThatCameAlone) {
  EXPECT_EQ(separated({"\n</th", "ink>\n", "\nHello </think>"}), "|Hello </think>");
  EXPECT_EQ(separated({"[/THINK]Hello"}), "|Hello");
  EXPECT_EQ(separated({"</"}), "|</");
}

TEST(ThinkTags, LeaveOtherTextAsItIs) {
  EXPECT_EQ(separated({"\n", "Use <think> and </think>."}), "|\nUse <think> and </think>.");
  EXPECT_EQ(separated({"<thin", "g>"}), "|<thing>");
  EXPECT_EQ(separated({"", "<th"}), "|<th");
  EXPECT_EQ(separated({}), "|");
}

TEST(ThinkTags, TakeWhatIsNotClosedForThoughts) { EXPECT_EQ(separated({"<think>Hm", "m</thi"}), "Hmm</thi|"); }

TEST(ThinkTags, ShowWhetherTheNextAnswerBeginsWithThoughts) {
  const auto are_open_after = [](bool are_open, std::initializer_list<std::string_view> deltas) {
    ThinkTags tags(are_open);
    for (const auto delta : deltas) tags.add(delta);
    tags.finish();
    return tags.are_open();
  };
  EXPECT_TRUE(are_open_after(false, {"Hm", ".</th", "ink>\n", "Hello"}));
  EXPECT_TRUE(are_open_after(true, {"Hm", ".</th", "ink>\n", "Hello"}));
  EXPECT_TRUE(are_open_after(true, {"</think>", "Hello"}));
  EXPECT_FALSE(are_open_after(false, {"Use <th", "ink> and </think>."}));
  EXPECT_FALSE(are_open_after(false, {"<think>Hm.</think>", "End it with </think>."}));
  EXPECT_FALSE(are_open_after(false, {"</think>", "End it with </think>."}));
  EXPECT_FALSE(are_open_after(true, {"Hello"}));
  EXPECT_FALSE(are_open_after(true, {"<think>Hm.</think>Hello"}));
}

TEST(ThinkTags, MayBeOpenAtTheBeginning) {
  EXPECT_EQ(separated({"\nHm", ".</th", "ink>\n", "Hello"}, true), "Hm.|Hello");
  EXPECT_EQ(separated({"Hello", " </thi"}, true), "Hello </thi|Hello </thi");
  EXPECT_EQ(separated({"Hm", " </thi"}, true, false), "Hm </thi|");
  EXPECT_EQ(separated({"<think>Hm.</think>Hello"}, true), "Hm.|Hello");
}

TEST(ThinkTags, WaitNoLongerThanTheyMust) {
  ThinkTags tags;
  EXPECT_EQ(tags.add("<think>Hm").thoughts, "Hm");
  EXPECT_EQ(tags.add(" <").thoughts, " ");
  EXPECT_EQ(tags.add("b").thoughts, "<b");
  EXPECT_EQ(tags.add("</think> So").text, "So");
  EXPECT_EQ(tags.add(" <").text, " <");
}

}  // namespace
}  // namespace agw
