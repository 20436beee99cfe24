#include <fcntl.h>
#include <sys/stat.h>

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/files/testing.hpp"

namespace agw {
namespace {

using ::testing::HasSubstr;
using testing::read_file;
using ::testing::StartsWith;
using testing::write_file;

namespace fs = std::filesystem;

class WriteTool : public ::testing::Test {
protected:
  std::string write(const fs::path& path, const std::string& content) {
    return fixture_.call("Write", {{"path", path.string()}, {"content", content}});
  }
  std::string edit(const std::string& old_string, const std::string& new_string, bool all = false) {
    return fixture_.call(
        "Edit", {{"path", "main.c"}, {"old_string", old_string}, {"new_string", new_string}, {"replace_all", all}});
  }

  testing::ToolsFixture fixture_;
};

TEST_F(WriteTool, CreatesAndReplacesFiles) {
  EXPECT_EQ(write("new/deep/a.txt", "one"), "created " + (fixture_.project / "new/deep/a.txt").string());
  EXPECT_EQ(read_file(fixture_.project / "new/deep/a.txt"), "one");
  EXPECT_THAT(write("new/deep/a.txt", "two"), StartsWith("replaced "));
  EXPECT_EQ(read_file(fixture_.project / "new/deep/a.txt"), "two");
  EXPECT_THAT(write(fixture_.workspace / "b.txt", "mine"), StartsWith("created "));
}

TEST_F(WriteTool, AProgramStaysOne) {
  fs::permissions(fixture_.project / "main.c", fs::perms(0755));
  write("main.c", "#!/bin/sh\n");
  EXPECT_EQ(fs::status(fixture_.project / "main.c").permissions(), fs::perms(0755));
}

TEST_F(WriteTool, ASymlinkStaysAndWhatItLeadsToIsWritten) {
  fs::create_symlink("main.c", fixture_.project / "link");
  EXPECT_EQ(write("link", "mine"), "replaced " + (fixture_.project / "main.c").string());
  EXPECT_TRUE(fs::is_symlink(fixture_.project / "link"));
  EXPECT_EQ(read_file(fixture_.project / "main.c"), "mine");
  fs::create_symlink("new.c", fixture_.project / "to_new");
  EXPECT_EQ(write("to_new", "new"), "created " + (fixture_.project / "new.c").string());
  fs::create_symlink("loop", fixture_.project / "loop");
  EXPECT_THAT(write("loop", "mine"), StartsWith("replaced "));
}

TEST_F(WriteTool, ASymlinkIsJudgedByWhereItLeads) {
  fs::create_symlink(fixture_.home / "letters/a.txt", fixture_.project / "link");
  fs::create_symlink(fixture_.home / "letters/new.txt", fixture_.project / "to_new");
  for (const auto* name : {"link", "to_new"}) EXPECT_THAT(write(name, "mine"), StartsWith("error: permission denied"));
  EXPECT_EQ(read_file(fixture_.home / "letters/a.txt"), "a letter");
  EXPECT_FALSE(fs::exists(fixture_.home / "letters/new.txt"));
  EXPECT_TRUE(fs::is_symlink(fixture_.project / "link"));
}

TEST_F(WriteTool, AHardLinkIsReplacedNotWrittenThrough) {
  fs::create_hard_link(fixture_.home / ".ssh/id_ed25519", fixture_.project / "notes.txt");
  write("notes.txt", "mine");
  EXPECT_EQ(read_file(fixture_.home / ".ssh/id_ed25519"), "secret");
}

TEST_F(WriteTool, NoWayLeadsOut) {
  write_file(fixture_.project / ".git/config", "mine");
  fs::create_directory_symlink(fixture_.home / "letters", fixture_.project / "out");
  for (const fs::path& path : std::initializer_list<fs::path>{
           "~/letters/b.txt", "../b.txt", "out/b.txt", "out/new/b.txt", "~/.ssh/authorized_keys",
           ".git/hooks/pre-commit", ".git/config", ".agents/skills/x/SKILL.md", "server.key", ".ssh/config",
           fixture_.data / "config.yaml", fixture_.data / "agents/helper/soul.md",
           fixture_.data / "agents/other/workspace/a.txt", "/tmp/agw-escaped",
           "/proc/self/root" + (fixture_.project / "x").string(), "/proc/self/cwd/x"}) {
    EXPECT_THAT(write(path, "evil"), StartsWith("error: permission denied:")) << path;
  }
  EXPECT_FALSE(fs::exists(fixture_.home / "letters/b.txt"));
  EXPECT_FALSE(fs::exists(fixture_.project / ".git/hooks"));
  EXPECT_EQ(read_file(fixture_.project / ".git/config"), "mine");
}

TEST_F(WriteTool, AGuardedPlaceIsOneWhateverItIsCalled) {
  for (const auto* name : {"HEAD", "objects/x", "refs/x", "config", "notes"})
    write_file(fixture_.project / ".bare" / name, "mine");
  fs::create_directory(fixture_.project / "assistant");
  fs::create_directory_symlink("assistant", fixture_.project / ".agents");
  write_file(fixture_.project / "lib/otter/SKILL.md", "mine");
  fs::create_directory_symlink("../lib/otter", fixture_.project / "assistant/otter");
  for (const auto* path : {".bare/config", ".bare/hooks/pre-commit", ".bare/worktrees/main/commondir",
                           ".agents/skills/x/SKILL.md", "assistant/notes.md", "lib/otter/SKILL.md"}) {
    EXPECT_THAT(write(path, "evil"), StartsWith("error: permission denied:")) << path;
  }
  EXPECT_THAT(write(".bare/notes", "fine"), StartsWith("replaced "));
  EXPECT_THAT(write(".bare/checkout/src/config", "fine"), StartsWith("created "));
}

TEST_F(WriteTool, WhatASymlinkInAGuardedPlaceLeadsToIsGuardedAtAnyDepth) {
  for (const auto* name : {"scripts/update", "store/HEAD", "store/objects/x", "store/refs/x", "notes/a"})
    write_file(fixture_.project / name, "mine");
  fs::create_directories(fixture_.project / "lib/.git/hooks");
  fs::create_symlink("../../../scripts/update", fixture_.project / "lib/.git/hooks/update");
  fs::create_symlink("../../conf/own", fixture_.project / "lib/.git/config");
  fs::create_directory_symlink("../notes", fixture_.project / "store/hooks");
  for (const auto* path : {"scripts/update", "conf/own", "notes/b"})
    EXPECT_THAT(write(path, "evil"), StartsWith("error: permission denied:")) << path;
  EXPECT_THAT(write("scripts/other", "fine"), StartsWith("created "));
}

TEST_F(WriteTool, ASymlinkInAGuardedPlaceThatLeadsOutOfTheProjectGuardsNothing) {
  fs::create_directories(fixture_.project / ".agents");
  fs::create_directory_symlink(fixture_.home, fixture_.project / ".agents/home");
  fs::create_directory_symlink("..", fixture_.project / ".agents/project");
  EXPECT_THAT(write("notes.txt", "fine"), StartsWith("created "));
}

TEST_F(WriteTool, AGuardedPlaceOfTheWorkspaceIsOneToo) {
  const auto workspace = fixture_.data / "agents/helper/workspace";
  for (const auto* name : {"HEAD", "objects/x", "refs/x", "notes"}) write_file(workspace / ".bare" / name, "mine");
  for (const auto* name : {"config", "hooks/pre-commit"})
    EXPECT_THAT(write(workspace / ".bare" / name, "evil"), StartsWith("error: permission denied:")) << name;
  EXPECT_THAT(write(workspace / ".bare/notes", "fine"), StartsWith("replaced "));
}

TEST_F(WriteTool, SaysWhyItCannot) {
  EXPECT_THAT(write(".", "x"), HasSubstr("not the name of a file"));
  EXPECT_THAT(write("..", "x"), HasSubstr("not the name of a file"));
  fs::create_directories(fixture_.project / "src");
  EXPECT_THAT(write("src", "x"), HasSubstr("a directory"));
  EXPECT_THAT(write("main.c/x", "x"), HasSubstr("not a directory"));
  EXPECT_THAT(write("missing/../x", "x"), StartsWith("error: ")) << "`..` of what is not there";
  ASSERT_EQ(::mkfifo((fixture_.project / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(write("pipe", "x"), HasSubstr("not a regular file"));
}

TEST_F(WriteTool, ASwappedDirectoryIsNoWayOut) {
  fs::create_directories(fixture_.project / "here");
  fs::create_directory_symlink(fixture_.home / "letters", fixture_.project / "there");
  const std::jthread attacker([&](const std::stop_token& stop) {
    const auto here = fixture_.project / "here";
    const auto there = fixture_.project / "there";
    while (!stop.stop_requested()) ::renameat2(AT_FDCWD, here.c_str(), AT_FDCWD, there.c_str(), RENAME_EXCHANGE);
  });
  testing::run([&](Loop& loop) -> Task<> {
    for (int i = 0; i < 300; ++i)
      co_await fixture_.call_on(loop, "Write", {{"path", "here/evil"}, {"content", "evil"}});
  });
  EXPECT_FALSE(fs::exists(fixture_.home / "letters/evil"));
}

TEST_F(WriteTool, WhatNeedsApprovalIsStagedAndNothingIsTouched) {
  fixture_.authorize_write = testing::ToolsFixture::stage_it;
  EXPECT_EQ(write("new/a.txt", "one"), "staged as proposal helper/2026-01-02/note");
  EXPECT_FALSE(fs::exists(fixture_.project / "new"));
  ASSERT_EQ(fixture_.staged.size(), 1u);
  EXPECT_EQ(fixture_.staged[0].type, "file");
  EXPECT_EQ(fixture_.staged[0].title, "Write new/a.txt");
  EXPECT_EQ(fixture_.staged[0].target, (fixture_.project / "new/a.txt").string());
  EXPECT_EQ(fixture_.staged[0].content, "one");
  write(fixture_.data / "agents/helper/soul.md", "kinder");
  EXPECT_EQ(fixture_.staged[1].type, "soul");
  EXPECT_EQ(edit("return 0", "return 1"), "staged as proposal helper/2026-01-02/note");
  EXPECT_EQ(fixture_.staged[2].content, "int main() {\n  return 1;\n}\n");
  EXPECT_THAT(read_file(fixture_.project / "main.c"), HasSubstr("return 0"));
}

TEST_F(WriteTool, EditReplacesExactlyOnePlace) {
  EXPECT_EQ(edit("return 0;", "return 1;"), "replaced 1 place in " + (fixture_.project / "main.c").string());
  EXPECT_EQ(read_file(fixture_.project / "main.c"), "int main() {\n  return 1;\n}\n");
}

TEST_F(WriteTool, EditSaysWhyItReplacesNothing) {
  EXPECT_THAT(edit("return 7;", "x"), HasSubstr("error: old_string was not found"));
  EXPECT_THAT(edit("n", "x"), HasSubstr("error: old_string was found 3 times"));
  EXPECT_THAT(edit("n", "n"), HasSubstr("are the same"));
  EXPECT_THAT(edit("", "n"), HasSubstr("old_string is empty"));
  EXPECT_EQ(read_file(fixture_.project / "main.c"), "int main() {\n  return 0;\n}\n");
  EXPECT_THAT(edit("n", "N", true), StartsWith("replaced 3 places"));
  EXPECT_EQ(read_file(fixture_.project / "main.c"), "iNt maiN() {\n  returN 0;\n}\n");
}

TEST_F(WriteTool, EditThroughALinkKeepsTheLink) {
  fs::create_symlink("main.c", fixture_.project / "link");
  EXPECT_THAT(fixture_.call("Edit", {{"path", "link"}, {"old_string", "0"}, {"new_string", "1"}}),
              StartsWith("replaced"));
  EXPECT_TRUE(fs::is_symlink(fixture_.project / "link"));
  EXPECT_THAT(read_file(fixture_.project / "main.c"), HasSubstr("return 1"));
}

TEST_F(WriteTool, EditLeavesBinaryAndPrivateFilesAlone) {
  write_file(fixture_.project / "main.c", std::string("a\0b", 3));
  EXPECT_THAT(edit("a", "c"), HasSubstr("a binary file"));
  fs::remove(fixture_.project / "main.c");
  fs::create_symlink(fixture_.home / ".bashrc", fixture_.project / "main.c");
  EXPECT_THAT(edit("secret", "c"), StartsWith("error: permission denied:"));
}

}  // namespace
}  // namespace agw
