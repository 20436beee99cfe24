#include "tools/search/ignore_rules.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "testing/scratch_directory.hpp"
#include "tools/files/testing.hpp"
#include "tools/search/walk.hpp"

namespace agw {
namespace {

using testing::write_file;
using Paths = std::set<std::string>;

/// A directory tree and the files that a `.gitignore` leaves: by our rules and by Git's.
class IgnoreRulesTest : public ::testing::Test {
protected:
  void SetUp() override {
    if (::access("/usr/bin/git", X_OK) != 0) GTEST_SKIP() << "git is not installed";
    ASSERT_EQ(std::system(fmt::format("/usr/bin/git init -q {}", fixture_.project.string()).c_str()), 0);
    for (const auto* name : {"a.txt",
                             "{a,b}.txt",
                             "a]b",
                             "[a",
                             "1.md",
                             "q.md",
                             "Q.md",
                             "_.md",
                             "-.md",
                             "a b",
                             "a ",
                             "#a",
                             "!a",
                             "a\\",
                             "é",
                             "foo",
                             "foobar",
                             "foo-bar",
                             "x.log",
                             "dir/a.txt",
                             "dir/x.log",
                             "dir/foo",
                             "dir/deep/foo",
                             "dir/deep/x.log",
                             "foo2/bar",
                             "deep/er/dir/foo",
                             "^",
                             "^a",
                             "*",
                             "?"})
      write_file(fixture_.project / name, "x");
  }

  Paths by_ours() {
    Paths paths;
    testing::run([&](Loop& loop) -> Task<> {
      BlockingPool blocking(loop);
      co_await blocking.run([&] {
        const CrossThreadStop stop(fixture_.stop);
        walk(locate(fixture_.project, fixture_.roots), fixture_.roots, {.gitignored = false}, stop.flag(),
             [&](const std::string& path, bool is_directory) {
               if (!is_directory) paths.insert(path);
               return true;
             });
      });
    });
    return paths;
  }

  Paths by_git() {
    const auto command = fmt::format(
        "/usr/bin/git -C {} -c core.excludesFile=/dev/null ls-files -z --others --exclude-per-directory=.gitignore",
        fixture_.project.string());
    const std::unique_ptr<FILE, int (*)(FILE*)> output(::popen(command.c_str(), "re"), ::pclose);
    std::string text;
    std::array<char, 4096> piece{};
    while (const auto got = std::fread(piece.data(), 1, piece.size(), output.get())) text.append(piece.data(), got);
    Paths paths;
    for (std::string_view rest = text; !rest.empty();) {
      const auto end = rest.find('\0');
      paths.emplace(rest.substr(0, end));
      rest.remove_prefix(end + 1);
    }
    return paths;
  }

  testing::ToolsFixture fixture_;
};

TEST_F(IgnoreRulesTest, LeaveOutWhatGitLeavesOut) {
  for (const auto* rules : {"{a,b}.txt",
                            "[[:alpha:]].md",
                            "[![:alpha:]].md",
                            "[[:upper:][:digit:]].md",
                            "[[:punct:]].md",
                            "[[:nothing:]].md",
                            "[[:alpha:].md",
                            "[a-z].md",
                            "[z-a].md",
                            "[!a-z].md",
                            "[^a-z].md",
                            "[]-].md",
                            "[-_].md",
                            "[--0].md",
                            "[\\-].md",
                            "[a",
                            "[",
                            "a[]]b",
                            "a[\\]]b",
                            "a\\]b",
                            "dir[/]a.txt",
                            "dir[!x]a.txt",
                            "dir?a.txt",
                            "dir[--0]foo",
                            "a\\",
                            "a\\\\",
                            "a\\ ",
                            "a ",
                            "a b  ",
                            "\\#a",
                            "#a",
                            "\\!a",
                            "!a",
                            "?",
                            "??",
                            "[é]",
                            "\\*",
                            "\\?",
                            "[*?]",
                            "^",
                            "[\\^]",
                            "[a^]",
                            "*.log",
                            "dir/*.log",
                            "/dir/*.log",
                            "**/x.log",
                            "dir/**",
                            "dir/**/foo",
                            "**/dir/foo",
                            "dir/***/foo",
                            "**/deep",
                            "dir**foo",
                            "foo*",
                            "foo**",
                            "/foo",
                            "dir/",
                            "foo/",
                            "foo2/",
                            "/**/foo",
                            "**",
                            "*/",
                            "*/foo",
                            "dir/*/foo",
                            "*\n!*.md",
                            "*\n!*/\n!foo",
                            "/*\n!/dir",
                            "dir/*\n!dir/deep",
                            "foo\r\n*.md\r",
                            "\xef\xbb\xbf*.md",
                            "/",
                            "!",
                            "*.md\n"}) {
    write_file(fixture_.project / ".gitignore", rules);
    EXPECT_EQ(by_ours(), by_git()) << rules;
  }
}

}  // namespace
}  // namespace agw
