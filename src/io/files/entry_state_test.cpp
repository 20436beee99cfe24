#include "io/files/entry_state.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t limit = 1'000'000;

class EntryStateTest : public ::testing::Test {
protected:
  EntryState read(const std::string& name) const {
    return read_entry(directory(), name, limit, scratch_.path() / name);
  }
  bool put(const std::string& name, const EntryState& wanted, const FileStamp& present) const {
    return put_entry(directory(), name, wanted, present, scratch_.path() / name);
  }
  fs::path write(const std::string& name, const std::string& text) const {
    auto path = scratch_.path() / name;
    std::ofstream(path) << text;
    return path;
  }
  std::string text(const std::string& name) const {
    std::ifstream file(scratch_.path() / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(scratch_.path()), fs::directory_iterator()));
  }
  int directory() const { return directory_.get(); }
  const fs::path& path() const { return scratch_.path(); }

private:
  testing::ScratchDirectory scratch_;
  Descriptor directory_{::open(scratch_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
};

TEST_F(EntryStateTest, IsReadWithContentModeAndTimes) {
  const auto path = write("a", "hello");
  ::chmod(path.c_str(), 0751);
  const std::array times{timespec{.tv_sec = 1'000'000, .tv_nsec = 5}, timespec{.tv_sec = 2'000'000, .tv_nsec = 7}};
  ::utimensat(AT_FDCWD, path.c_str(), times.data(), 0);
  const auto state = read("a");
  EXPECT_EQ(state.kind, EntryKind::file);
  EXPECT_EQ(state.content, "hello");
  EXPECT_EQ(state.mode, 0751u);
  EXPECT_EQ(state.modified_ns, 2'000'000'000'000'007);
  EXPECT_EQ(read("missing").kind, EntryKind::absent);
}

TEST_F(EntryStateTest, ComesBackWithModeAndTimes) {
  const auto path = write("a", "hello");
  ::chmod(path.c_str(), 0751);
  const std::array times{timespec{.tv_sec = 1'000'000, .tv_nsec = 5}, timespec{.tv_sec = -5, .tv_nsec = 7}};
  ::utimensat(AT_FDCWD, path.c_str(), times.data(), 0);
  const auto before = read("a");
  write("a", "something else");
  EXPECT_TRUE(put("a", before, read("a").stamp));
  const auto after = read("a");
  EXPECT_EQ(after.content, "hello");
  EXPECT_EQ(after.mode, 0751u);
  EXPECT_EQ(after.modified_ns, before.modified_ns);
  EXPECT_EQ(entries(), 1u);
}

TEST_F(EntryStateTest, IsNotReplacedIfItChangedSince) {
  write("a", "one");
  const auto before = read("a");
  write("a", "a person's");
  EXPECT_FALSE(put("a", {.kind = EntryKind::file, .mode = 0644, .content = "two"}, before.stamp));
  EXPECT_FALSE(put("a", {}, before.stamp));
  EXPECT_FALSE(put("a", {.kind = EntryKind::file, .mode = 0644, .content = "two"}, {}));
  EXPECT_EQ(text("a"), "a person's");
  EXPECT_EQ(entries(), 1u);
}

/// Whether this process has the file open.
bool is_open(const FileStamp& file) {
  return std::ranges::any_of(fs::directory_iterator("/proc/self/fd"), [&](const fs::directory_entry& each) {
    struct stat status{};
    return ::stat(each.path().c_str(), &status) == 0 && status.st_ino == file.inode;
  });
}

TEST_F(EntryStateTest, KeepsTheBlocksOfTheFormerFileUntilTheNewEntryIsDestroyed) {
  const auto name = write("a", "one");
  const auto before = read("a");
  {
    NewEntry entry(directory(), {.kind = EntryKind::file, .mode = 0644, .content = "two"}, name);
    EXPECT_FALSE(is_open(before.stamp));
    EXPECT_TRUE(put_entry(directory(), "a", entry, before.stamp, name));
    EXPECT_EQ(text("a"), "two");
    EXPECT_EQ(entries(), 1u);
    EXPECT_TRUE(is_open(before.stamp));
  }
  EXPECT_FALSE(is_open(before.stamp));
  EXPECT_EQ(text("a"), "two");
}

TEST_F(EntryStateTest, IsRemovedOnlyAsItWas) {
  write("a", "one");
  EXPECT_TRUE(put("a", {}, read("a").stamp));
  EXPECT_EQ(entries(), 0u);
}

TEST_F(EntryStateTest, OfASymlinkIsItsTargetWhichIsNotFollowed) {
  write("target", "the target");
  fs::create_symlink("target", path() / "link");
  const auto link = read("link");
  EXPECT_EQ(link.kind, EntryKind::symlink);
  EXPECT_EQ(link.content, "target");
  EXPECT_TRUE(put("link", {.kind = EntryKind::file, .mode = 0600, .content = "a file"}, link.stamp));
  EXPECT_EQ(text("target"), "the target");
  EXPECT_TRUE(put("link", link, read("link").stamp));
  EXPECT_EQ(fs::read_symlink(path() / "link"), "target");
}

TEST_F(EntryStateTest, OfPipesAndSocketsIsNotRead) {
  ASSERT_EQ(::mkfifo((path() / "pipe").c_str(), 0600), 0);
  const auto state = read("pipe");
  EXPECT_EQ(state.kind, EntryKind::other);
  EXPECT_FALSE(state.has_content);
}

TEST_F(EntryStateTest, OfALargeOrSparseFileHasNoContent) {
  write("sparse", "x");
  fs::resize_file(path() / "sparse", std::uintmax_t{1} << 40);
  const auto state = read("sparse");
  EXPECT_EQ(state.kind, EntryKind::file);
  EXPECT_FALSE(state.has_content);
  EXPECT_EQ(state.stamp.size, std::uint64_t{1} << 40);
}

TEST_F(EntryStateTest, KeepsNamesThatAreNotUtf8) {
  const std::string name = "caf\xe9\xff";
  EXPECT_TRUE(put(name, {.kind = EntryKind::file, .mode = 0644, .content = "x"}, {}));
  EXPECT_EQ(read(name).content, "x");
}

TEST_F(EntryStateTest, OfADirectoryThatIsNotEmptyIsNotRemoved) {
  EXPECT_TRUE(put("d", {.kind = EntryKind::directory, .mode = 0750}, {}));
  EXPECT_EQ(read("d").mode, 0750u);
  write("d/mine", "x");
  EXPECT_FALSE(put("d", {}, read("d").stamp));
  fs::remove(path() / "d/mine");
  EXPECT_TRUE(put("d", {}, read("d").stamp));
  EXPECT_FALSE(fs::exists(path() / "d"));
}

}  // namespace
}  // namespace agw
