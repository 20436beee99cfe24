#include "features/approvals/exact_text.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

std::string hosts_in(std::string_view text) {
  std::string all;
  for (const auto& [shown, real] : disguised_hosts(text)) all += shown + " " + real + "\n";
  return all;
}

TEST(ExactText, LeavesUsualTextAsItIs) {
  const std::string text = "git commit -m \"Grüße, мир, 你好\" \\\n\t--all && echo ‘done’ – ok";
  EXPECT_EQ(exact_text(text), text);
}

TEST(ExactText, WritesOutControlBidirectionalAndInvisibleCharacters) {
  EXPECT_EQ(exact_text("a\u202Eb\u200Bc\x1b[31m\r\u00A0x\U000E0041"),
            "a⟨U+202E⟩b⟨U+200B⟩c⟨U+001B⟩[31m⟨U+000D⟩⟨U+00A0⟩x⟨U+E0041⟩");
}

TEST(ExactText, CountsWhatPushesTheEndOutOfSight) {
  EXPECT_EQ(exact_text("ls" + std::string(10'000, ' ') + "; rm -rf ~"), "ls⟨10000 spaces⟩; rm -rf ~");
  EXPECT_EQ(exact_text("ls" + std::string(500, '\n') + "rm"), "ls⟨500 line breaks⟩\nrm");
  EXPECT_EQ(exact_text("a\u200B\u200B\u200Bb"), "a⟨U+200B × 3⟩b");
  EXPECT_EQ(exact_text("a\n    b"), "a\n    b");
}

TEST(ExactText, MarksLettersThatLookLikeOthers) {
  EXPECT_EQ(exact_text("curl аpple.com"), "curl а⟨U+0430⟩pple.com");
  EXPECT_EQ(exact_text("rm；x"), "rm；⟨U+FF1B⟩x");
  EXPECT_EQ(exact_text("Отчёт.txt"), "Отчёт.txt");
}

TEST(DisguisedHosts, ShowsWhereAnAddressReallyLeads) {
  EXPECT_EQ(hosts_in("curl https://аpple.com/x"), "аpple.com xn--pple-43d.com\n");
  EXPECT_EQ(hosts_in("ssh root@bücher.example"), "bücher.example xn--bcher-kva.example\n");
  EXPECT_EQ(hosts_in("curl https://github.com@evil.example/x"), "github.com@evil.example evil.example\n");
  EXPECT_EQ(hosts_in("curl https://github.com\\@evil.example/x"), "github.com\\@evil.example evil.example\n");
  EXPECT_EQ(hosts_in("curl http://2130706433/"), "2130706433 127.0.0.1\n");
}

TEST(DisguisedHosts, TakesNoLongerPerHostForManyHosts) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += "я" + std::to_string(i) + ".a ";
  EXPECT_EQ(disguised_hosts(text + text).size(), 50'000U);
}

TEST(DisguisedHosts, IsSilentAboutUsualHosts) {
  EXPECT_EQ(hosts_in("curl https://Example.com:8443/é http://127.0.0.1:80 ssh://git@github.com && cat naïve"), "");
  EXPECT_EQ(hosts_in("curl https://example.com\\n -u me@example.com"), "");
}

}  // namespace
}  // namespace agw
