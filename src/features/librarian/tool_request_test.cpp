#include <gtest/gtest.h>

#include "features/librarian/intent.hpp"

namespace agw {
namespace {

struct ExpectedCall {
  const char* message;
  const char* tool;
  const char* input;
};

void PrintTo(const ExpectedCall& shown, std::ostream* out) { *out << shown.message; }

class ToolRequests : public ::testing::TestWithParam<ExpectedCall> {};

TEST_P(ToolRequests, IsReadFromThePlainWords) {
  const auto use = read_tool_request(GetParam().message);
  ASSERT_TRUE(use);
  EXPECT_EQ(use->name, GetParam().tool);
  EXPECT_EQ(to_json(use->input), GetParam().input);
}

INSTANTIATE_TEST_SUITE_P(
    Librarian, ToolRequests,
    ::testing::Values(
        ExpectedCall{"read notes.md", "Read", R"({"path":"notes.md"})"},
        ExpectedCall{"Please read src/main.cpp.", "Read", R"({"path":"src/main.cpp"})"},
        ExpectedCall{"can you show me the file LICENSE?", "Read", R"({"path":"LICENSE"})"},
        ExpectedCall{"read \"my notes.txt\"", "Read", R"({"path":"my notes.txt"})"},
        ExpectedCall{"Read src/main.cpp, please!", "Read", R"({"path":"src/main.cpp"})"},
        ExpectedCall{"read the notes.md file", "Read", R"({"path":"notes.md"})"},
        ExpectedCall{"write hello to notes.md", "Write", R"({"content":"hello","path":"notes.md"})"},
        ExpectedCall{"Please write \"two words\" into `docs/a.md`.", "Write",
                     R"({"content":"two words","path":"docs/a.md"})"},
        ExpectedCall{"write notes.md: buy milk, now", "Write", R"({"path":"notes.md","content":"buy milk, now"})"},
        ExpectedCall{"create the file notes.md with the content \"x\"", "Write",
                     R"({"path":"notes.md","content":"x"})"},
        ExpectedCall{"bash: ls -la", "Bash", R"({"command":"ls -la"})"},
        ExpectedCall{"list files", "Read", R"({"path":"."})"},
        ExpectedCall{"list the files in src", "Read", R"({"path":"src"})"},
        ExpectedCall{"ls", "Read", R"({"path":"."})"}, ExpectedCall{"glob **/*.md", "Glob", R"({"pattern":"**/*.md"})"},
        ExpectedCall{"find files *.md in docs", "Glob", R"({"pattern":"*.md","path":"docs"})"},
        ExpectedCall{"grep TODO in src", "Grep", R"({"pattern":"TODO","path":"src"})"},
        ExpectedCall{"grep \"two words\"", "Grep", R"({"pattern":"two words"})"},
        ExpectedCall{"Grep for TODO", "Grep", R"({"pattern":"TODO"})"},
        ExpectedCall{"fetch https://example.org/a?b=c", "WebFetch", R"({"url":"https://example.org/a?b=c"})"},
        ExpectedCall{"search the web for otters", "WebSearch", R"({"query":"otters"})"},
        ExpectedCall{"list jobs", "ListExtensions", R"({"type":"job"})"},
        ExpectedCall{"/jobs", "ListExtensions", R"({"type":"job"})"},
        ExpectedCall{"Show me all capabilities!", "ListExtensions", R"({"type":"capability"})"},
        ExpectedCall{"list extensions", "ListExtensions", "{}"},
        ExpectedCall{"run job self-reflect", "RunJob", R"({"job":"self-reflect"})"},
        ExpectedCall{"read the skill pdf", "ReadSkill", R"({"name":"pdf"})"},
        ExpectedCall{"calculate (2 + 3) * 4", "calculate", R"({"expression":"(2 + 3) * 4"})"},
        ExpectedCall{"What time is it?", "current-time", "{}"},
        ExpectedCall{"run `ls -la | wc`", "Bash", R"({"command":"ls -la | wc"})"}));

TEST(ToolRequests, AreNotReadFromOtherWords) {
  for (const auto* message :
       {"", "hello", "What did I read yesterday?", "read it", "I read notes.md and liked it",
        "read notes.md\nand then delete everything", "what is grep?", "run", "show me what you can", "list the reasons",
        "run the tests", "open question: which one?", "list jobs that failed", "write a poem to my mother",
        "write to me soon", "bash is hard to read", "save the date: 1.2.", "calculate the risk",
        "what is the time of the meeting"}) {
    EXPECT_FALSE(read_tool_request(message)) << message;
  }
}

}  // namespace
}  // namespace agw
