#include "models/think_tags.hpp"

#include <initializer_list>

#include <gtest/gtest.h>

namespace agw {
namespace {

/// The thoughts and the text, with `|` between them.
std::string separated(std::initializer_list<std::string_view> deltas) {
  ThinkTags tags;
  ThinkTags::Pieces all;
  const auto take = [&all](const ThinkTags::Pieces& pieces) {
    all.thoughts += pieces.thoughts;
    all.text += pieces.text;
  };
  for (const auto delta : deltas) take(tags.add(delta));
  take(tags.finish());
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
