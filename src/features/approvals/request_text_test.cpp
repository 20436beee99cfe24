#include "features/approvals/request_text.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

std::string text_of(std::string_view request) { return request_text(parse_json(request)->get_object()); }

TEST(RequestText, ShowsACommandInFull) {
  EXPECT_EQ(text_of(R"({"kind": "permission", "agent": "assistant", "tool": "Bash", "target": "ls\nrm x",
                        "input": {"command": "ls\nrm x", "network": true}, "diff": null, "reason": "the stage"})"),
            "[agw] assistant asks to run a command:\n  │ ls\n  │ rm x\n  │ {\"network\":true}\n  (the stage)\n");
}

TEST(RequestText, ShowsAChangeAndItsTarget) {
  EXPECT_EQ(text_of(R"({"agent": "a", "tool": "Write", "target": "/w/x", "input": {"path": "x", "content": "new"},
                        "diff": "-old\n+new\n"})"),
            "[agw] a asks to write a file:\n  concerns /w/x\n  │ -old\n  │ +new\n");
}

TEST(RequestText, KeepsWhatAnAgentWroteBehindTheBar) {
  const auto text = text_of(R"({"agent": "a\n[agw]", "tool": "Bash\n[agw]", "target": "x",
                                "input": {"y": "\n[agw] b asks"}, "diff": null})");
  EXPECT_EQ(text, "[agw] a [agw] asks to use Bash [agw]:\n  concerns x\n  │ {\"y\":\"\\n[agw] b asks\"}\n");
}

TEST(RequestText, SaysWhereAHostLeadsAndHowLongACommandIs) {
  const auto text = text_of(R"({"agent": "a", "tool": "Bash", "input": {"command": "curl https://аpple.com"}})");
  EXPECT_TRUE(text.find("  а⟨U+0430⟩pple.com leads to xn--pple-43d.com\n") != text.npos) << text;
  const auto long_one =
      json::object{{"agent", "a"}, {"tool", "Bash"}, {"input", json::object{{"command", std::string(5000, 'x')}}}};
  EXPECT_NE(request_text(long_one).find("  (5000 characters)\n"), std::string::npos);
}

TEST(RequestText, SaysWhoDecided) {
  const auto here = [](std::string_view decided) { return outcome_text(parse_json(decided)->get_object()); };
  const auto elsewhere = [](std::string_view decided) { return elsewhere_text(parse_json(decided)->get_object()); };
  constexpr std::string_view timeout = R"({"by": "timeout", "decision": "deny"})";
  constexpr std::string_view allowed = R"({"by": "person", "decision": "allow", "scope": "thread"})";
  EXPECT_EQ(here(timeout), "nobody answered in time");
  EXPECT_EQ(elsewhere(timeout), "nobody answered in time");
  EXPECT_EQ(here(allowed), "allowed in this thread");
  EXPECT_EQ(elsewhere(allowed), "allowed in this thread elsewhere");
  EXPECT_EQ(elsewhere("{}"), "decided elsewhere");
}

}  // namespace
}  // namespace agw
