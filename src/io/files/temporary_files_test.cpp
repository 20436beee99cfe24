#include <fstream>

#include <gtest/gtest.h>

#include "io/files/atomic_file.hpp"
#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

class LeftoversTest : public ::testing::Test {
protected:
  fs::path make(const std::string& name, std::chrono::seconds age) const {
    const auto path = scratch_.path() / name;
    std::ofstream(path) << "half";
    fs::last_write_time(path, fs::file_time_type::clock::now() - age);
    return path;
  }

  testing::ScratchDirectory scratch_;
};

TEST_F(LeftoversTest, FilesOfInterruptedWritesAreRemoved) {
  const auto leftover = make(".agw-0123456789abcdef.tmp", 2h);
  EXPECT_EQ(remove_stale_temporary_files(scratch_.path(), 1h), 1u);
  EXPECT_FALSE(fs::exists(leftover));
}

TEST_F(LeftoversTest, FilesOfActiveWritesAndOtherFilesStay) {
  const auto being_written = make(".agw-0123456789abcdef.tmp", 1min);
  const auto notes = make("notes.tmp", 2h);
  EXPECT_EQ(remove_stale_temporary_files(scratch_.path(), 1h), 0u);
  EXPECT_TRUE(fs::exists(being_written) && fs::exists(notes));
}

TEST_F(LeftoversTest, ADirectoryThatIsNotThereOrIsALinkHasNone) {
  fs::create_directory(scratch_.path() / "elsewhere");
  const auto leftover = make("elsewhere/.agw-0123456789abcdef.tmp", 2h);
  fs::create_directory_symlink(scratch_.path() / "elsewhere", scratch_.path() / "link");
  EXPECT_EQ(remove_stale_temporary_files(scratch_.path() / "link", 1h), 0u);
  EXPECT_EQ(remove_stale_temporary_files(scratch_.path() / "missing", 1h), 0u);
  EXPECT_TRUE(fs::exists(leftover));
}

}  // namespace
}  // namespace agw
