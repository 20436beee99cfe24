#include <sys/stat.h>

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/files/testing.hpp"

namespace agw {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using testing::write_file;

namespace fs = std::filesystem;

/// With and without ripgrep.
class GrepTool : public ::testing::TestWithParam<bool> {
protected:
  GrepTool() : fixture_(GetParam() ? find_ripgrep() : std::nullopt) {
    if (GetParam() && !find_ripgrep()) skip_ = true;
  }
  void SetUp() override {
    if (skip_) GTEST_SKIP() << "ripgrep is not installed";
  }

  std::string grep(const std::string& pattern, json::object more = {}) {
    more["pattern"] = pattern;
    return fixture_.call("Grep", std::move(more));
  }

  testing::ToolsFixture fixture_;
  bool skip_ = false;
};

INSTANTIATE_TEST_SUITE_P(With, GrepTool, ::testing::Bool(),
                         [](const auto& shown) { return shown.param ? "Ripgrep" : "OwnWalk"; });

TEST_P(GrepTool, LeavesAFileOutWhoseOnlyLineNeedsTooMuchMemory) {
  std::ofstream file(fixture_.project / "endless.txt");
  const std::string piece(1024 * 1024, 'x');
  for (int i = 0; i < 300; ++i) file << piece;
  file << "return 0;";
  file.close();
  EXPECT_EQ(grep("return 0"), "main.c:2:  return 0;\n");
}

TEST_P(GrepTool, ShowsMatchingLines) {
  write_file(fixture_.project / "src/b.c", "x\nreturn 1;\nreturn 2;\r\n");
  EXPECT_EQ(grep("return \\d"), "main.c:2:  return 0;\nsrc/b.c:2:return 1;\nsrc/b.c:3:return 2;\n");
  EXPECT_EQ(grep("RETURN 1", {{"ignore_case", true}}), "src/b.c:2:return 1;\n");
  EXPECT_EQ(grep("^return", {{"path", "src"}}), "src/b.c:2:return 1;\nsrc/b.c:3:return 2;\n");
  EXPECT_EQ(grep("return", {{"path", "main.c"}}), "main.c:2:  return 0;\n");
  EXPECT_EQ(grep("return", {{"glob", "b.*"}}), "src/b.c:2:return 1;\nsrc/b.c:3:return 2;\n");
  EXPECT_EQ(grep("return", {{"glob", "!b.*"}}), "main.c:2:  return 0;\n");
  EXPECT_EQ(grep("nowhere"), "[nothing matches]\n");
  EXPECT_EQ(grep("letter", {{"path", "~/letters"}}), (fixture_.home / "letters/a.txt").string() + ":1:a letter\n");
}

TEST_P(GrepTool, ShowsSurroundingLines) {
  write_file(fixture_.project / "a.txt", "1\n2\nhit\n4\n5\n6\n7\nhit\n");
  EXPECT_EQ(grep("hit", {{"context", 1}}), "a.txt-2-2\na.txt:3:hit\na.txt-4-4\n--\na.txt-7-7\na.txt:8:hit\n");
}

TEST_P(GrepTool, StopsAtTheLimit) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "hit\n";
  write_file(fixture_.project / "a.txt", text);
  const auto output = grep("hit", {{"max", 3}});
  EXPECT_THAT(output, StartsWith("a.txt:1:hit\na.txt:2:hit\na.txt:3:hit\n[there are more matches"));
  EXPECT_EQ(std::ranges::count(grep("hit"), '\n'), 501);
  EXPECT_EQ(grep("hit", {{"max", 1}, {"glob", "main.c"}}), "[nothing matches]\n");
}

TEST_P(GrepTool, RespectsGitignore) {
  write_file(fixture_.project / ".gitignore", "*.log\nbuild/\n/top.txt\n!keep.log\ndocs/*.tmp\n# comment\n\\#odd\n");
  write_file(fixture_.project / "sub/.gitignore", "!wanted.log\nlocal.txt\n");
  for (const auto* path : {"a.log", "keep.log", "build/x.txt", "top.txt", "sub/top.txt", "sub/b.log", "sub/wanted.log",
                           "sub/local.txt", "docs/a.tmp", "docs/deep/a.tmp", "#odd", "sub/build/y.txt", "build.txt"}) {
    write_file(fixture_.project / path, "hit\n");
  }
  EXPECT_EQ(grep("hit"),
            "build.txt:1:hit\ndocs/deep/a.tmp:1:hit\nkeep.log:1:hit\nsub/top.txt:1:hit\nsub/wanted.log:1:hit\n");
  EXPECT_EQ(grep("hit", {{"glob", "*.log"}}), "keep.log:1:hit\nsub/wanted.log:1:hit\n");
  EXPECT_EQ(grep("hit", {{"glob", "sub/*.log"}}), "sub/wanted.log:1:hit\n");
  EXPECT_EQ(grep("hit", {{"glob", "**/*.{log,tmp}"}}), "docs/deep/a.tmp:1:hit\nkeep.log:1:hit\nsub/wanted.log:1:hit\n");
  EXPECT_EQ(grep("hit", {{"path", "sub"}}), "sub/top.txt:1:hit\nsub/wanted.log:1:hit\n") << "those above count too";
}

TEST_P(GrepTool, LeavesOutTheSameFilesWithAndWithoutRipgrep) {
  for (const auto* path : {"a.txt", "a.log", "sub/a.txt", "sub/a.log", "sub/deep/a.log", "repository/a.log"})
    write_file(fixture_.project / path, "hit\n");
  const std::string all =
      "a.log:1:hit\na.txt:1:hit\nrepository/a.log:1:hit\nsub/a.log:1:hit\nsub/a.txt:1:hit\nsub/deep/a.log:1:hit\n";
  const std::string sub = "sub/a.log:1:hit\nsub/a.txt:1:hit\nsub/deep/a.log:1:hit\n";
  for (const auto* name : {".rgignore", ".ignore", "sub/.rgignore", "sub/.ignore"}) {
    write_file(fixture_.project / name, "*.txt\n");
    EXPECT_EQ(grep("hit"), all) << name;
    EXPECT_EQ(grep("hit", {{"path", "sub"}}), sub) << name;
    fs::remove(fixture_.project / name);
  }
  for (const auto* name : {".gitignore", ".rgignore", ".config/git/ignore", "work/.gitignore"}) {
    write_file(fixture_.home / name, "*\n");
    EXPECT_EQ(grep("hit"), all) << name;
    EXPECT_EQ(grep("hit", {{"path", "sub"}}), sub) << name;
    fs::remove(fixture_.home / name);
  }
  write_file(fixture_.project / ".gitignore", "{a,b}.txt\n*.log\n");
  fs::create_directories(fixture_.project / "repository/.git");
  EXPECT_EQ(grep("hit"), "a.txt:1:hit\nrepository/a.log:1:hit\nsub/a.txt:1:hit\n");
  write_file(fixture_.project / "sub/.git", "gitdir: elsewhere\n");
  EXPECT_EQ(grep("hit", {{"path", "sub/deep"}}), "sub/deep/a.log:1:hit\n");
}

TEST_P(GrepTool, WaitsForNoPipeThatIsNamedAsAFileWithRules) {
  write_file(fixture_.project / "sub/deep/a.txt", "hit\n");
  for (const auto* name : {".gitignore", ".ignore", ".rgignore", "sub/.gitignore", "sub/deep/.gitignore"}) {
    ASSERT_EQ(::mkfifo((fixture_.project / name).c_str(), 0600), 0);
    EXPECT_EQ(grep("hit"), "sub/deep/a.txt:1:hit\n") << name;
    EXPECT_EQ(grep("hit", {{"path", "sub/deep"}}), "sub/deep/a.txt:1:hit\n") << name;
    EXPECT_EQ(fixture_.call("Glob", {{"pattern", "**/a.txt"}}), "sub/deep/a.txt\n") << name;
    fs::remove(fixture_.project / name);
  }
}

TEST_P(GrepTool, LeavesOutWhatIsHiddenBinaryOrPrivate) {
  write_file(fixture_.project / ".hidden", "hit\n");
  write_file(fixture_.project / ".git/x", "hit\n");
  write_file(fixture_.project / "binary", std::string("hit\0", 4));
  write_file(fixture_.project / "server.pem", "hit\n");
  write_file(fixture_.project / "deep/id_rsa", "hit\n");
  write_file(fixture_.home / ".ssh/x", "hit\n");
  fs::create_symlink(fixture_.home / ".ssh/x", fixture_.project / "link");
  fs::create_directory_symlink(fixture_.home / ".ssh", fixture_.project / "folder");
  fs::create_hard_link(fixture_.home / ".ssh/x", fixture_.project / "notes.txt");
  EXPECT_EQ(grep("hit"), "[nothing matches]\n");
  EXPECT_EQ(grep("hit", {{"glob", "*"}}), "[nothing matches]\n");
  EXPECT_EQ(grep("hit", {{"glob", "*.pem"}}), "[nothing matches]\n");
  EXPECT_EQ(grep("hit", {{"path", "~"}}), "[nothing matches]\n");
  for (const auto* path : {"~/.ssh", "/", "/etc", "server.pem", "folder", "~/.agent-gateway", "notes.txt"}) {
    EXPECT_THAT(grep("hit", {{"path", path}}), StartsWith("error: permission denied:")) << path;
  }
}

TEST_P(GrepTool, WhatTheAgentMayNotReadIsNotShown) {
  write_file(fixture_.project / "open/a.txt", "hit\n");
  write_file(fixture_.project / "closed/a.txt", "hit\n");
  fixture_.authorize_read = [&](const ToolTarget& target) {
    return target.path.find("/closed/") == std::string::npos ? Permission{} : testing::ToolsFixture::denied();
  };
  EXPECT_EQ(grep("hit"), "open/a.txt:1:hit\n");
}

TEST_P(GrepTool, ANameOfSeveralLinesIsNotAnothers) {
  write_file(fixture_.project / "a\nmain.c", "hit\n");
  write_file(fixture_.project / "binary", "hit\n" + std::string(100'000, 'x') + std::string(1, '\0'));
  write_file(fixture_.project / "c.txt", "hit\n");
  const auto output = grep("hit");
  EXPECT_THAT(output, HasSubstr("a\nmain.c:1:hit\n"));
  EXPECT_THAT(output, HasSubstr("c.txt:1:hit\n"));
  EXPECT_THAT(output, Not(HasSubstr("int")));
}

TEST_P(GrepTool, SaysWhatIsWrong) {
  EXPECT_THAT(grep("("), StartsWith("error: "));
  EXPECT_THAT(grep("x", {{"path", "missing"}}), HasSubstr("not found"));
  EXPECT_THAT(grep("x", {{"glob", "[z-a]"}}), StartsWith("error: "));
}

TEST_P(GrepTool, NoArgumentIsAnOption) {
  write_file(fixture_.project / "a.txt", "--files here\n");
  EXPECT_EQ(grep("--files"), "a.txt:1:--files here\n");
  EXPECT_EQ(grep("-e"), "[nothing matches]\n");
  EXPECT_THAT(grep("x", {{"glob", "--pre=sh"}}), Not(StartsWith("error: ")));
}

TEST_P(GrepTool, APatternThatBacktracksElsewhereEndsHere) {
  write_file(fixture_.project / "a.txt", std::string(100'000, 'a') + "\n");
  EXPECT_EQ(grep("(a+)+$", {{"max", 1}}).substr(0, 8), "a.txt:1:");
  EXPECT_EQ(grep("(a|a)*b"), "[nothing matches]\n");
}

TEST_P(GrepTool, NamesAndLinesCanBeAnyBytes) {
  write_file(fixture_.project / "new\nline.txt", "hit\n");
  write_file(fixture_.project / "latin1.txt", "hit caf\xe9\n");
  write_file(fixture_.project / "wide.txt", "hit" + std::string(10'000, 'x') + "\n");
  const auto output = grep("hit");
  EXPECT_THAT(output, HasSubstr("latin1.txt:1:hit caf\uFFFD\n"));
  EXPECT_THAT(output, HasSubstr("x […]\n"));
  EXPECT_LT(output.size(), 2000u);
}

class GlobTool : public ::testing::Test {
protected:
  std::string glob(const std::string& pattern, json::object more = {}) {
    more["pattern"] = pattern;
    return fixture_.call("Glob", std::move(more));
  }
  void write(const std::string& path, std::chrono::seconds age) {
    write_file(fixture_.project / path, "x");
    fs::last_write_time(fixture_.project / path, fs::file_time_type::clock::now() - age);
  }

  testing::ToolsFixture fixture_;
};

TEST_F(GlobTool, FindsNewestFirst) {
  using namespace std::chrono_literals;
  write("src/a.ts", 10s);
  write("src/deep/b.ts", 5s);
  write("src/c.js", 1s);
  write("d.ts", 20s);
  EXPECT_EQ(glob("**/*.ts"), "src/deep/b.ts\nsrc/a.ts\nd.ts\n");
  EXPECT_EQ(glob("*.ts"), "d.ts\n");
  EXPECT_EQ(glob("src/*.{ts,js}"), "src/c.js\nsrc/a.ts\n");
  EXPECT_EQ(glob("*.ts", {{"path", "src/deep"}}), "src/deep/b.ts\n");
  EXPECT_EQ(glob("src/**/[a-b].ts"), "src/deep/b.ts\nsrc/a.ts\n");
  EXPECT_EQ(glob("src/?.js"), "src/c.js\n");
  EXPECT_EQ(glob("main.c"), "main.c\n");
  EXPECT_EQ(glob((fixture_.project / "src/*.js").string()), "src/c.js\n");
  EXPECT_EQ(glob("~/letters/*"), (fixture_.home / "letters/a.txt").string() + "\n");
  EXPECT_EQ(glob("*.none"), "[nothing matches]\n");
}

TEST_F(GlobTool, CountsCharactersAndNotBytes) {
  write_file(fixture_.project / "nfc-é.txt", "x");
  write_file(fixture_.project / "raw-\xe9.txt", "x");
  EXPECT_EQ(glob("nfc-?.txt"), "nfc-é.txt\n");
  EXPECT_EQ(glob("nfc-[é].txt"), "nfc-é.txt\n");
  EXPECT_EQ(glob("nfc-[!a].txt"), "nfc-é.txt\n");
  EXPECT_EQ(glob("nfc-??.txt"), "[nothing matches]\n");
  EXPECT_THAT(glob("raw-?.txt"), HasSubstr("raw-"));
}

TEST_F(GlobTool, ShowsAThousandAtMost) {
  for (int i = 0; i < 1005; ++i) write_file(fixture_.project / ("f" + std::to_string(i)), "");
  const auto output = glob("f*");
  EXPECT_EQ(std::ranges::count(output, '\n'), 1001);
  EXPECT_THAT(output, EndsWith("[more than 1000 match: these are the newest]\n"));
}

TEST_F(GlobTool, LeavesOutWhatIsPrivate) {
  write_file(fixture_.project / "server.pem", "x");
  write_file(fixture_.project / "a/.ssh/config", "x");
  write_file(fixture_.project / ".git/HEAD", "x");
  fs::create_directory_symlink(fixture_.home / ".ssh", fixture_.project / "link");
  EXPECT_EQ(glob("**/*.pem"), "[nothing matches]\n");
  EXPECT_EQ(glob("**/config"), "[nothing matches]\n");
  EXPECT_EQ(glob("**/HEAD"), "[nothing matches]\n");
  EXPECT_EQ(glob(".git/HEAD"), ".git/HEAD\n");
  EXPECT_EQ(glob("link/*").substr(0, 25), "error: permission denied:");
  EXPECT_EQ(glob("*", {{"path", "~/.ssh"}}).substr(0, 25), "error: permission denied:");
  EXPECT_EQ(glob("/etc/*").substr(0, 25), "error: permission denied:");
  EXPECT_THAT(glob("~/*"), Not(HasSubstr(".bashrc")));
  EXPECT_THAT(glob("~/**/id_*"), Not(HasSubstr("id_ed25519")));
}

}  // namespace
}  // namespace agw
