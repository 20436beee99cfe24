#include "features/librarian/tool_wish.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

struct Wished {
  const char* message;
  const char* tool;
  const char* input;
};

void PrintTo(const Wished& shown, std::ostream* out) { *out << shown.message; }

class ToolWish : public ::testing::TestWithParam<Wished> {};

TEST_P(ToolWish, IsReadFromThePlainWords) {
  const auto use = read_tool_wish(GetParam().message);
  ASSERT_TRUE(use);
  EXPECT_EQ(use->name, GetParam().tool);
  EXPECT_EQ(to_json(use->input), GetParam().input);
}

INSTANTIATE_TEST_SUITE_P(
    Librarian, ToolWish,
    ::testing::Values(Wished{"read notes.md", "Read", R"({"path":"notes.md"})"},
                      Wished{"Please read src/main.cpp.", "Read", R"({"path":"src/main.cpp"})"},
                      Wished{"can you show me the file LICENSE?", "Read", R"({"path":"LICENSE"})"},
                      Wished{"read \"my notes.txt\"", "Read", R"({"path":"my notes.txt"})"},
                      Wished{"list files", "Read", R"({"path":"."})"},
                      Wished{"list the files in src", "Read", R"({"path":"src"})"},
                      Wished{"ls", "Read", R"({"path":"."})"},
                      Wished{"glob **/*.md", "Glob", R"({"pattern":"**/*.md"})"},
                      Wished{"find files *.md in docs", "Glob", R"({"pattern":"*.md","path":"docs"})"},
                      Wished{"grep TODO in src", "Grep", R"({"pattern":"TODO","path":"src"})"},
                      Wished{"grep \"two words\"", "Grep", R"({"pattern":"two words"})"},
                      Wished{"Grep for TODO", "Grep", R"({"pattern":"TODO"})"},
                      Wished{"fetch https://example.org/a?b=c", "WebFetch", R"({"url":"https://example.org/a?b=c"})"},
                      Wished{"search the web for otters", "WebSearch", R"({"query":"otters"})"},
                      Wished{"list jobs", "ListExtensions", R"({"type":"job"})"},
                      Wished{"/jobs", "ListExtensions", R"({"type":"job"})"},
                      Wished{"Show me all capabilities!", "ListExtensions", R"({"type":"capability"})"},
                      Wished{"list extensions", "ListExtensions", "{}"},
                      Wished{"run job self-reflect", "RunJob", R"({"job":"self-reflect"})"},
                      Wished{"read the skill pdf", "ReadSkill", R"({"name":"pdf"})"},
                      Wished{"run `ls -la | wc`", "Bash", R"({"command":"ls -la | wc"})"}));

TEST(ToolWishes, ReadNothingIntoOtherWords) {
  for (const auto* message :
       {"", "hello", "What did I read yesterday?", "read it", "I read notes.md and liked it",
        "read notes.md\nand then delete everything", "what is grep?", "run", "show me what you can", "list the reasons",
        "run the tests", "open question: which one?", "list jobs that failed"}) {
    EXPECT_FALSE(read_tool_wish(message)) << message;
  }
}

}  // namespace
}  // namespace agw
