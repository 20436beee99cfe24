#include "features/skills/skill_text.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

std::optional<SkillText> read_skill(std::string_view text) {
  std::string why;
  return read_skill_text(text, why);
}

TEST(SkillText, HasAHeadAndABody) {
  const auto skill = read_skill("---\nname: pdf\ndescription: Fills forms.\nlicense: MIT\n---\n# PDF\n\nSteps.\n");
  ASSERT_TRUE(skill);
  EXPECT_EQ(skill->name, "pdf");
  EXPECT_EQ(skill->description, "Fills forms.");
  EXPECT_EQ(skill->body, "# PDF\n\nSteps.");
}

TEST(SkillText, ARuleInTheBodyStaysThere) {
  EXPECT_EQ(read_skill("---\ndescription: x\n---\none\n\n---\n\ntwo")->body, "one\n\n---\n\ntwo");
}

TEST(SkillText, AcceptsTheFormatsOfEditors) {
  const auto skill = read_skill("\xEF\xBB\xBF---\r\nname: a\r\ndescription: b\r\n---\r\nbody\r\n");
  ASSERT_TRUE(skill);
  EXPECT_EQ(skill->body, "body");
}

TEST(SkillText, TakesADescriptionWithAColon) {
  EXPECT_EQ(read_skill("---\nname: a\ndescription: Use when: it rains\n---\n")->description, "Use when: it rains");
}

TEST(SkillText, TakesADescriptionAsABlock) {
  EXPECT_EQ(read_skill("---\ndescription: |\n  one\n  two\n---\n")->description, "one\ntwo");
}

TEST(SkillText, ADescriptionHas1024CharactersAtMost) {
  std::string words;
  for (int i = 0; i < 1025; ++i) words += "é";
  EXPECT_EQ(read_skill("---\ndescription: " + words + "\n---\n")->description, words.substr(0, 2048));
}

TEST(SkillText, ModelsCanBeLeftOut) {
  EXPECT_TRUE(read_skill("---\ndescription: x\ndisable-model-invocation: true\n---\n")->for_people);
  EXPECT_FALSE(read_skill("---\ndescription: x\n---\n")->for_people);
}

TEST(SkillText, IsNothingWithoutItsHead) {
  for (const auto* text : {"", "# PDF\n", "---\nname: a\n", "---\nname: a\n---\n", "---\ndescription: ' '\n---\n",
                           "---\n- a\n---\n", "---\n: [\n---\n", " ---\ndescription: x\n---\n"}) {
    std::string why;
    EXPECT_FALSE(read_skill_text(text, why)) << text;
    EXPECT_FALSE(why.empty()) << text;
  }
}

}  // namespace
}  // namespace agw
