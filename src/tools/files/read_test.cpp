#include <fcntl.h>
#include <sys/stat.h>

#include <thread>

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

class ReadTool : public ::testing::Test {
protected:
  std::string read(const fs::path& path) { return fixture_.call("Read", {{"path", path.string()}}); }

  testing::ToolsFixture fixture_;
};

TEST_F(ReadTool, ShowsLinesWithTheirNumbers) {
  EXPECT_EQ(read("main.c"), "     1\tint main() {\n     2\t  return 0;\n     3\t}\n");
  EXPECT_EQ(read(fixture_.project / "main.c"), read("main.c"));
  EXPECT_EQ(read("~/letters/a.txt"), "     1\ta letter\n");
  EXPECT_EQ(read("../../letters/a.txt"), read("~/letters/a.txt"));
  EXPECT_EQ(read(fixture_.data / "agents/helper/soul.md"), "     1\tkind\n");
}

TEST_F(ReadTool, ShowsAPartOfAFile) {
  std::string text;
  for (int i = 1; i <= 5000; ++i) text += "line " + std::to_string(i) + "\n";
  write_file(fixture_.project / "long", text);
  EXPECT_EQ(fixture_.call("Read", {{"path", "long"}, {"offset", 4999}}), "  4999\tline 4999\n  5000\tline 5000\n");
  EXPECT_EQ(fixture_.call("Read", {{"path", "long"}, {"offset", 2}, {"limit", 1}}),
            "     2\tline 2\n[there is more: continue with offset 3]\n");
  EXPECT_THAT(read("long"), EndsWith("  2000\tline 2000\n[there is more: continue with offset 2001]\n"));
  EXPECT_EQ(fixture_.call("Read", {{"path", "long"}, {"offset", 5001}}), "[the file has 5000 lines]\n");
  EXPECT_EQ(fixture_.call("Read", {{"path", "long"}, {"offset", 5000}, {"limit", 1}}), "  5000\tline 5000\n");
  write_file(fixture_.project / "none", "");
  EXPECT_EQ(read("none"), "[the file is empty]\n");
}

TEST_F(ReadTool, CutsWhatNoModelCanTake) {
  write_file(fixture_.project / "wide", std::string(1'000'000, 'x') + "\nnext\n");
  const auto text = read("wide");
  EXPECT_LT(text.size(), 3000u);
  EXPECT_THAT(text, HasSubstr("x [… 1000000 bytes in this line]\n     2\tnext\n"));
  std::string many;
  for (int i = 0; i < 2000; ++i) many += std::string(1000, 'y') + "\n";
  write_file(fixture_.project / "many", many);
  EXPECT_LT(read("many").size(), 210'000u);
  EXPECT_THAT(read("many"), HasSubstr("[there is more: continue with offset "));
}

TEST_F(ReadTool, ReadsOnlyTheBeginningOfAHugeFile) {
  std::ofstream(fixture_.project / "huge") << "first\n" << std::string(100'000, '\n');
  fs::resize_file(fixture_.project / "huge", 50'000'000'000);
  EXPECT_THAT(fixture_.call("Read", {{"path", "huge"}, {"limit", 1}}), StartsWith("     1\tfirst\n"));
}

TEST_F(ReadTool, SaysWhatItCannotShow) {
  write_file(fixture_.project / "picture.png", std::string("\x89PNG\0\0", 6));
  EXPECT_THAT(read("picture.png"), HasSubstr("picture.png: a binary file of 6 bytes"));
  EXPECT_THAT(read("missing"), HasSubstr("missing: not found"));
  EXPECT_THAT(read("main.c/below"), HasSubstr("not a directory"));
  EXPECT_THAT(read(std::string("main.c\0x", 8)), HasSubstr("not a possible name"));
  EXPECT_THAT(read(std::string(5000, 'x')), HasSubstr("not a possible name"));
}

TEST_F(ReadTool, NoPipeOrDeviceMakesItWait) {
  ASSERT_EQ(::mkfifo((fixture_.project / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(read("pipe"), HasSubstr("not a regular file"));
  EXPECT_THAT(read("/dev/zero"), StartsWith("error: permission denied:"));
}

TEST_F(ReadTool, WhatIsNotUtf8IsStillShown) {
  write_file(fixture_.project / "latin1", "caf\xe9\n");
  EXPECT_EQ(read("latin1"), "     1\tcaf\uFFFD\n");
}

TEST_F(ReadTool, ListsADirectoryWithoutWhatIsPrivate) {
  write_file(fixture_.project / ".github/ci.yml", "x");
  write_file(fixture_.project / "server.pem", "secret");
  write_file(fixture_.project / ".npmrc", "secret");
  EXPECT_EQ(read("."), ".github/\nmain.c\n");
  EXPECT_EQ(read("~"), "letters/\nwork/\n");
}

TEST_F(ReadTool, NoWayLeadsToPrivateFiles) {
  write_file(fixture_.project / "tls/server.key", "secret");
  fs::create_symlink(fixture_.home / ".ssh/id_ed25519", fixture_.project / "link");
  fs::create_directory_symlink(fixture_.home / ".ssh", fixture_.project / "folder");
  fs::create_hard_link(fixture_.home / ".ssh/id_ed25519", fixture_.project / "notes.txt");
  fs::create_hard_link(fixture_.data / ".gateway-token", fixture_.project / "token.txt");
  const auto ssh = fixture_.home / ".ssh/id_ed25519";
  for (const fs::path& path : std::initializer_list<fs::path>{
           ssh, "~/.ssh/id_ed25519", "../../.ssh/id_ed25519", "link", "folder/id_ed25519", "notes.txt", "token.txt",
           "tls/server.key", "~/.bashrc", fixture_.data / ".gateway-token",
           fixture_.data / "agents/other/workspace/a.txt", "/proc/self/root" + ssh.string(),
           "/proc/self/cwd/../../../" + ssh.string(), "/proc/self/environ", "/etc/passwd", "~/.ssh", "~/.ssh/missing",
           "folder", "/dev/fd/0"}) {
    EXPECT_THAT(read(path), StartsWith("error: permission denied:")) << path;
  }
}

TEST_F(ReadTool, ALinkThatStaysInSightIsFollowed) {
  fs::create_symlink("main.c", fixture_.project / "link");
  EXPECT_EQ(read("link"), read("main.c"));
}

TEST_F(ReadTool, ASwappedDirectoryIsNoWayOut) {
  write_file(fixture_.project / "here/id", "mine");
  write_file(fixture_.home / ".ssh/id", "secret");
  fs::create_directory_symlink(fixture_.home / ".ssh", fixture_.project / "there");
  const std::jthread attacker([&](const std::stop_token& stop) {
    const auto here = fixture_.project / "here";
    const auto there = fixture_.project / "there";
    while (!stop.stop_requested()) ::renameat2(AT_FDCWD, here.c_str(), AT_FDCWD, there.c_str(), RENAME_EXCHANGE);
  });
  testing::run([&](Loop& loop) -> Task<> {
    for (int i = 0; i < 300; ++i) {
      EXPECT_THAT(co_await fixture_.call_on(loop, "Read", {{"path", "here/id"}}), Not(HasSubstr("secret")));
    }
  });
}

}  // namespace
}  // namespace agw
