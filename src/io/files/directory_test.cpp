#include "io/files/directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

class DirectoryTest : public ::testing::Test {
protected:
  DirectoryTest() {
    fs::create_directories(root_ / "notes/deep");
    std::ofstream(root_ / "notes/a.md") << "hello";
    std::ofstream(scratch_.path() / "secret") << "secret";
  }

  Directory open(Symlinks symlinks = Symlinks::follow) const { return Directory::open(root_, symlinks).value(); }

  FileError read_error(std::string_view path, Symlinks symlinks = Symlinks::follow) const {
    const auto content = open(symlinks).read(path, 100);
    EXPECT_FALSE(content) << path << " was read: " << *content;
    return content ? FileError::too_large : content.error();
  }

  testing::ScratchDirectory scratch_;
  fs::path root_ = scratch_.path() / "root";
};

TEST_F(DirectoryTest, ReadsWhatLiesBeneath) {
  EXPECT_EQ(open().read("notes/a.md", 100).value(), "hello");
  EXPECT_EQ(open().read("notes/../notes/./a.md", 100).value(), "hello");
  EXPECT_EQ(open().directory("notes")->read("a.md", 100).value(), "hello");
  std::ofstream(root_ / "large") << std::string(100'000, 'x');
  EXPECT_EQ(open().read("large", 100'000).value(), std::string(100'000, 'x'));
}

TEST_F(DirectoryTest, StatesWhyNothingCanBeRead) {
  EXPECT_EQ(read_error("missing"), FileError::not_found);
  EXPECT_EQ(read_error("missing/a.md"), FileError::not_found);
  EXPECT_EQ(read_error("notes/a.md/below"), FileError::not_directory);
  EXPECT_EQ(read_error("notes"), FileError::is_directory);
  EXPECT_EQ(read_error(""), FileError::bad_name);
  EXPECT_EQ(read_error(std::string_view("notes/a.md\0", 11)), FileError::bad_name);
  EXPECT_EQ(read_error(std::string(300, 'n')), FileError::bad_name);
  EXPECT_EQ(open().read("notes/a.md", 4).error(), FileError::too_large);
  ASSERT_EQ(::mkfifo((root_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(read_error("pipe"), FileError::not_regular);
}

TEST_F(DirectoryTest, NoPathLeadsOut) {
  EXPECT_EQ(read_error("../secret"), FileError::outside);
  EXPECT_EQ(read_error("notes/../../secret"), FileError::outside);
  EXPECT_EQ(read_error((scratch_.path() / "secret").string()), FileError::outside);
  EXPECT_EQ(read_error("/"), FileError::outside);
  EXPECT_EQ(read_error((root_ / "notes/a.md").string()), FileError::outside) << "absolute, though it leads back in";
  EXPECT_EQ(open().directory("..").error(), FileError::outside);
  EXPECT_EQ(open().directory("notes")->read("../notes/a.md", 100).error(), FileError::outside);
  EXPECT_EQ(open().list("..", 100).error(), FileError::outside);
  EXPECT_EQ(open().status("../secret").error(), FileError::outside);
}

TEST_F(DirectoryTest, NoSymlinkLeadsOut) {
  fs::create_symlink("../secret", root_ / "relative");
  fs::create_symlink(scratch_.path() / "secret", root_ / "absolute");
  fs::create_directory_symlink("..", root_ / "up");
  fs::create_symlink("/proc/self/root", root_ / "magic");
  EXPECT_EQ(read_error("relative"), FileError::outside);
  EXPECT_EQ(read_error("absolute"), FileError::outside);
  EXPECT_EQ(read_error("up/secret"), FileError::outside);
  EXPECT_EQ(read_error("magic/etc/passwd"), FileError::outside);
  EXPECT_EQ(open().write("up/new", "x").error(), FileError::outside);
  EXPECT_EQ(open().make_directories("up/new").error(), FileError::outside);
  EXPECT_FALSE(fs::exists(scratch_.path() / "new"));
}

TEST_F(DirectoryTest, NoMagicLinkOfTheKernelIsFollowed) {
  const auto process = Directory::open("/proc/self").value();
  EXPECT_FALSE(process.read("root/etc/passwd", 100'000));
  EXPECT_FALSE(process.directory("cwd"));
  EXPECT_FALSE(process.file("fd/0"));
}

TEST_F(DirectoryTest, SymlinksThatStayInsideAreFollowedUnlessRefused) {
  fs::create_symlink("notes/a.md", root_ / "link");
  fs::create_symlink("loop", root_ / "loop");
  EXPECT_EQ(open().read("link", 100).value(), "hello");
  EXPECT_EQ(read_error("link", Symlinks::refuse), FileError::symlink);
  EXPECT_EQ(read_error("loop"), FileError::symlink);
  EXPECT_EQ(open(Symlinks::refuse).read("notes/a.md", 100).value(), "hello");
}

TEST_F(DirectoryTest, ASwappedDirectoryIsNoWayOut) {
  fs::create_directory_symlink("..", root_ / "up");
  const std::jthread attacker([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      ::renameat2(AT_FDCWD, (root_ / "notes").c_str(), AT_FDCWD, (root_ / "up").c_str(), RENAME_EXCHANGE);
    }
  });
  std::ofstream(root_ / "notes/secret") << "mine";
  const auto directory = open();
  for (int i = 0; i < 2000; ++i) {
    const auto content = directory.read("notes/secret", 100);
    if (content) {
      ASSERT_NE(*content, "secret");
    }
  }
}

TEST_F(DirectoryTest, ListsByNameWithTypes) {
  fs::create_symlink("a.md", root_ / "notes/link");
  std::ofstream(root_ / "notes/.agw-0123456789abcdef.tmp") << "under way";
  const auto entries = open().list("notes", 3).value();
  std::vector<std::pair<std::string, FileType>> found;
  for (const auto& entry : entries) found.emplace_back(entry.name, entry.type);
  EXPECT_THAT(found, ElementsAre(std::pair("a.md", FileType::regular), std::pair("deep", FileType::directory),
                                 std::pair("link", FileType::symlink)));
  EXPECT_EQ(open().list("notes", 2).error(), FileError::too_large);
  EXPECT_EQ(open().list("notes/a.md", 2).error(), FileError::not_directory);
  EXPECT_EQ(open().list(".", 10)->size(), 1u);
}

TEST_F(DirectoryTest, ReportsTheTypeOfAFile) {
  ASSERT_EQ(::chmod((root_ / "notes/a.md").c_str(), 0640), 0);
  const timespec times[2] = {{0, 0}, {1'700'000'000, 123'456'789}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (root_ / "notes/a.md").c_str(), times, 0), 0);
  const auto status = open().status("notes/a.md").value();
  EXPECT_EQ(status.type, FileType::regular);
  EXPECT_EQ(status.size, 5u);
  EXPECT_EQ(status.mode, 0640u);
  EXPECT_EQ(to_iso8601(status.modified_at), "2023-11-14T22:13:20.123Z");
  EXPECT_EQ(open().status(".")->type, FileType::directory);
}

TEST_F(DirectoryTest, WritesWholeFiles) {
  EXPECT_TRUE(open().write("notes/b.md", "one"));
  EXPECT_TRUE(open().write("notes/b.md", "two", 0644));
  EXPECT_EQ(open().read("notes/b.md", 100).value(), "two");
  EXPECT_EQ(open().status("notes/b.md")->mode, 0644u);
  EXPECT_EQ(open().list("notes", 10)->size(), 3u) << "nothing else is left";
}

TEST_F(DirectoryTest, SaysWhyItCannotWrite) {
  EXPECT_EQ(open().write("missing/b.md", "x").error(), FileError::not_found);
  EXPECT_EQ(open().write("notes/a.md/b.md", "x").error(), FileError::not_directory);
  EXPECT_EQ(open().write("notes/deep", "x").error(), FileError::is_directory);
  EXPECT_EQ(open().write("notes/..", "x").error(), FileError::is_directory);
  EXPECT_EQ(open().write("notes/", "x").error(), FileError::bad_name);
  EXPECT_EQ(open().write("", "x").error(), FileError::bad_name);
  EXPECT_EQ(open().write(std::string(300, 'n'), "x").error(), FileError::bad_name);
  EXPECT_EQ(open().write("../new", "x").error(), FileError::outside);
  EXPECT_EQ(open().write("/new", "x").error(), FileError::outside);
}

TEST_F(DirectoryTest, ASymlinkInTheFilesPlaceIsReplaced) {
  fs::create_symlink("../secret", root_ / "link");
  EXPECT_TRUE(open().write("link", "mine"));
  EXPECT_EQ(open().read("link", 100).value(), "mine");
  EXPECT_EQ(Directory::open(scratch_.path())->read("secret", 100).value(), "secret");
}

TEST_F(DirectoryTest, MakesDirectories) {
  EXPECT_TRUE(open().make_directories("one/two/three"));
  EXPECT_TRUE(open().make_directories("one/two/three/"));
  EXPECT_TRUE(open().make_directories("one//two/../four"));
  EXPECT_TRUE(fs::is_directory(root_ / "one/two/three"));
  EXPECT_TRUE(fs::is_directory(root_ / "one/four"));
  EXPECT_EQ(open().status("one")->mode, 0700u);
  EXPECT_EQ(open().make_directories("notes/a.md/below").error(), FileError::not_directory);
  EXPECT_EQ(open().make_directories("notes/a.md").error(), FileError::not_directory);
  EXPECT_EQ(open().make_directories("../new").error(), FileError::outside);
  EXPECT_EQ(open().make_directories("/new").error(), FileError::outside);
  EXPECT_EQ(open().make_directories("one/../../new").error(), FileError::outside);
  EXPECT_EQ(open().make_directories(std::string_view("new\0", 4)).error(), FileError::bad_name);
  EXPECT_FALSE(fs::exists(root_ / "new"));
}

TEST_F(DirectoryTest, MovesFilesAndDirectoriesButOverNothing) {
  const auto directory = open();
  fs::create_directories(root_ / "empty");
  ASSERT_TRUE(directory.write("b.md", "b"));
  EXPECT_EQ(directory.move("b.md", "notes/a.md").error(), FileError::exists);
  EXPECT_TRUE(directory.move("b.md", "notes/b.md"));
  EXPECT_EQ(directory.move("notes", "notes/deep/notes").error(), FileError::bad_name);
  EXPECT_TRUE(directory.move("notes", "empty")) << "nothing is lost with an empty directory";
  EXPECT_EQ(directory.read("empty/b.md", 100).value(), "b");
  fs::create_directories(root_ / "full/of");
  EXPECT_EQ(directory.move("empty", "full").error(), FileError::exists);
  EXPECT_EQ(directory.move("missing", "full").error(), FileError::not_found);
  EXPECT_EQ(directory.move("empty", "../out").error(), FileError::outside);
  EXPECT_EQ(directory.move("../secret", "in").error(), FileError::outside);
  EXPECT_EQ(directory.move("empty", "full/..").error(), FileError::bad_name);
}

TEST_F(DirectoryTest, RemovesFiles) {
  EXPECT_TRUE(open().remove("notes/a.md"));
  EXPECT_FALSE(fs::exists(root_ / "notes/a.md"));
  EXPECT_EQ(open().remove("notes/a.md").error(), FileError::not_found);
  EXPECT_EQ(open().remove("notes").error(), FileError::is_directory);
  EXPECT_EQ(open().remove("../secret").error(), FileError::outside);
}

TEST_F(DirectoryTest, AStampDistinguishesVersionsOfAFile) {
  const auto directory = open();
  const auto first = directory.stamp("notes/a.md").value();
  EXPECT_EQ(directory.stamp("notes/a.md").value(), first);
  ASSERT_TRUE(directory.write("notes/a.md", "hello", 0600, Durability::later)) << "the same size";
  EXPECT_NE(directory.stamp("notes/a.md").value(), first);
  EXPECT_EQ(directory.stamp("notes/missing").error(), FileError::not_found);
}

TEST_F(DirectoryTest, ReadsARange) {
  const auto file = open().file("notes/a.md").value();
  EXPECT_EQ(read_range(file, 1, 3), "ell");
  EXPECT_EQ(read_range(file, 3, 100), "lo");
  EXPECT_EQ(read_range(file, 100, 3), "");
  EXPECT_EQ(stamp_of(file), open().stamp("notes/a.md").value());
}

TEST_F(DirectoryTest, KnowsItsPath) {
  EXPECT_EQ(open().directory("notes")->real_path(), fs::canonical(root_ / "notes"));
}

TEST_F(DirectoryTest, AMissingDirectoryIsAValueAndItsUseAnException) {
  const auto missing = Directory::open(root_ / "missing");
  EXPECT_EQ(missing.error(), FileError::not_found);
  EXPECT_THROW(missing.value(), std::system_error);
  EXPECT_EQ(to_string(missing.error()), "not found");
}

}  // namespace
}  // namespace agw
