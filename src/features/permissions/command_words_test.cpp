#include "features/permissions/command_words.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

using Words = std::vector<std::string>;

/// The pattern of a grant for the whole line; empty if there is none.
std::string whole(std::string_view line) {
  const auto words = words_of_command(line);
  return words ? quoted_words(*words) : "";
}

/// The pattern of a grant for a program that only reads; empty if the line is not such a command.
std::string reading(std::string_view line) {
  const auto words = words_of_command(line);
  return words ? reading_command(*words).value_or("") : "";
}

TEST(WordsOfCommand, AreWhatBashPassesOn) {
  EXPECT_EQ(words_of_command("git status"), (Words{"git", "status"}));
  EXPECT_EQ(words_of_command("  git\t status  "), (Words{"git", "status"}));
  EXPECT_EQ(words_of_command(R"(echo 'a b' "c d" e\ f 'g'"h"i)"), (Words{"echo", "a b", "c d", "e f", "ghi"}));
  EXPECT_EQ(words_of_command(R"(echo "a\"b" "a\b" '\n' \$x "\$x" "\`")"),
            (Words{"echo", "a\"b", "a\\b", "\\n", "$x", "$x", "`"}));
  EXPECT_EQ(words_of_command("echo '' \"\""), (Words{"echo", "", ""}));
  EXPECT_EQ(words_of_command("git show HEAD~1 a#b '*' '~'"), (Words{"git", "show", "HEAD~1", "a#b", "*", "~"}));
  EXPECT_EQ(words_of_command("make PREFIX=/usr"), (Words{"make", "PREFIX=/usr"}));
}

class NotSimple : public ::testing::TestWithParam<const char*> {};

TEST_P(NotSimple, HasNoWords) { EXPECT_EQ(words_of_command(GetParam()), std::nullopt) << GetParam(); }

INSTANTIATE_TEST_SUITE_P(Lines, NotSimple,
                         ::testing::Values("", "   ", "a; b", "a;", "a & b", "a &", "a && b", "a | b", "a || b",
                                           "a $(b)", "a `b`", "a \"`b`\"", "a \"$(b)\"", "a $b", "a \"$b\"", "a ${b}",
                                           "a > b", "a >> b", "a < b", "a 2>&1", "a <<< b", "a <(b)", "(a)", "{ a; }",
                                           "a {b,c}", "a * b", "a ?", "a [b]", "~/a", "a ~", "a ~root/x", "a --b=~/c",
                                           "A=b c", "A=b", "A+=b c", "'A'=b c", "! a", "if a", "while true", "time a",
                                           "function f", "coproc a", "[[ a ]]", "for i in a", "case a in", "a # b",
                                           "# a"));
INSTANTIATE_TEST_SUITE_P(Characters, NotSimple,
                         ::testing::Values("a\nb", "a\n", "a\rb", "a\x1b[8mb", "a\bb", "a\x7f", "a\vb", "a\fb",
                                           "a \xe2\x80\xae b",
                                           "a\xc2\xa0"
                                           "b",
                                           "a\xe2\x80\x8b"
                                           "b",
                                           "\xd0\xb3it status", "a\xff"));
INSTANTIATE_TEST_SUITE_P(Quotes, NotSimple,
                         ::testing::Values("a 'b", "a \"b", "a \"b\\", "a \\", "''", "'' a", "\"\"", "a '\n'", "$'a'",
                                           "$\"a\""));

TEST(QuotedWords, AreTheSameForTheSameWords) {
  EXPECT_EQ(whole("npm   run 'dev'"), "npm run dev");
  EXPECT_EQ(whole("echo \"a b\" 'c'\\''d'"), R"(echo 'a b' 'c'\''d')");
  EXPECT_EQ(whole("ls '*'"), "ls '*'") << "not the pattern of a program that only reads";
  EXPECT_EQ(whole("git status '*'"), "git status '*'");
  EXPECT_EQ(whole("echo ''"), "echo ''");
  for (const auto* line : {"echo 'a b' c", "printf '%s\\n' \"x'y\"", "a '' '\"' '\\'"}) {
    EXPECT_EQ(whole(whole(line)), whole(line)) << "reads as itself";
  }
}

TEST(ReadingCommand, NamesProgramsThatOnlyRead) {
  EXPECT_EQ(reading("git status"), "git status *");
  EXPECT_EQ(reading("git status -sb --porcelain=v2 -- src"), "git status *");
  EXPECT_EQ(reading("git diff --stat HEAD~1 -- a.c"), "git diff *");
  EXPECT_EQ(reading("git log --oneline -5 -n10"), "git log *");
  EXPECT_EQ(reading("git show HEAD:a.c"), "git show *");
  EXPECT_EQ(reading("ls -la /tmp"), "ls *");
  EXPECT_EQ(reading("cat -n a -"), "cat *");
  EXPECT_EQ(reading("rg -n --hidden 'a b' src"), "rg *");
  EXPECT_EQ(reading("grep -rn TODO src"), "grep *");
  EXPECT_EQ(reading("find . -name '*.c' -type f"), "find *");
  EXPECT_EQ(reading("head -n 5 a"), "head *");
}

class MayDoMore : public ::testing::TestWithParam<const char*> {};

TEST_P(MayDoMore, IsNoReadingCommand) { EXPECT_EQ(reading(GetParam()), "") << GetParam(); }

INSTANTIATE_TEST_SUITE_P(
    Git, MayDoMore,
    ::testing::Values("git", "git -c core.pager=./evil status", "git -c core.fsmonitor=./evil status",
                      "git --exec-path=. status", "git -C /elsewhere status", "git --git-dir=x status",
                      "git --paginate log", "git -p log", "git push", "git commit", "git checkout a", "git branch",
                      "git diff --output=a", "git diff --output a", "git diff --outp=a", "git diff --ext-diff",
                      "git log --ext-diff", "git show --textconv", "git diff --no-index a b", "git log -- --output=a",
                      "git log --author -- --output=a", "git log --show-signature", "git log --format=%G?",
                      "git log --pretty=%G?", "git diff -Oa", "git status --unknown", "./git status", "/tmp/git status",
                      "Git status", "git 'status '", "'git status'"));
INSTANTIATE_TEST_SUITE_P(
    Others, MayDoMore,
    ::testing::Values("rg --pre ./evil a", "rg --pre=./evil a", "rg --hostname-bin=./evil a", "rg -z a",
                      "rg --search-zip a", "find . -exec rm", "find . -execdir a", "find . -ok a", "find . -delete",
                      "find . -fprint a", "find . -fls a", "find . -fprintf a b", "tail -f a", "tail -F a",
                      "tail --follow a", "sort -o a b", "sort a", "tree -o a", "date -s 1", "uniq a b", "env ls",
                      "xargs ls", "sudo ls", "command ls", "exec ls", "eval ls", "bash -c ls", "sh ls", "python3 a",
                      "node a", "npm run dev", "npx a", "make", "docker ps", "kubectl get pods", "ssh host ls",
                      "sed -i s/a/b/ c", "awk a", "vim a", "less a", "file -C -m a", "file -z a", "diff --to-file=a b",
                      "du --files0-from=a", "grep -f a b", "grep --file=a b", "ls --hyperlink", "cat --unknown"));

}  // namespace
}  // namespace agw
