#include "io/files/file_watch.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

struct WatchedDirectory : ::testing::Test {
  WatchedDirectory() { watch.remember(watch.add(directory.path(), "pages")); }

  void write(const std::string& name) { std::ofstream(directory.path() / name) << "text"; }

  testing::ScratchDirectory directory;
  FileWatch watch;
};

TEST_F(WatchedDirectory, ReportsChangedFilesOnce) {
  EXPECT_FALSE(watch.take().any());
  write("a.md");
  write("b.md");
  EXPECT_EQ(watch.take().files, (std::set<std::string>{"pages/a.md", "pages/b.md"}));
  EXPECT_FALSE(watch.take().any());
  std::filesystem::remove(directory.path() / "a.md");
  EXPECT_EQ(watch.take().files, (std::set<std::string>{"pages/a.md"}));
}

TEST_F(WatchedDirectory, ReportsBothNamesOfARenamedFile) {
  write("a.md");
  watch.take();
  std::filesystem::rename(directory.path() / "a.md", directory.path() / "b.md");
  EXPECT_EQ(watch.take().files, (std::set<std::string>{"pages/a.md", "pages/b.md"}));
}

TEST_F(WatchedDirectory, ReportsThatAnythingMayHaveChangedIfADirectoryChanged) {
  std::filesystem::create_directory(directory.path() / "more");
  EXPECT_TRUE(watch.take().everything);
}

TEST_F(WatchedDirectory, ReportsThatAnythingMayHaveChangedAfterVeryManyChanges) {
  for (int i = 0; i < 1100; ++i) write(std::to_string(i));
  EXPECT_TRUE(watch.take().everything);
}

TEST(FileWatch, OfWhatIsNotThereIsNothing) {
  FileWatch watch;
  watch.remember(watch.add("/nothing/there", "x"));
  EXPECT_FALSE(watch.take().any());
}

}  // namespace
}  // namespace agw
