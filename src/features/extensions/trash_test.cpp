#include <gtest/gtest.h>

#include <fstream>

#include "features/extensions/outbox.hpp"
#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class TrashTest : public ::testing::Test {
protected:
  TrashTest() {
    fs::create_directories(data_ / "trash/agents-scout-1/notes");
    std::ofstream(data_ / "trash/agents-scout-1/notes/a.md") << "text";
    std::ofstream(data_ / "trash/asset-2") << "text";
    std::ofstream(data_ / "kept.md") << "text";
    fs::create_directory_symlink(data_, data_ / "trash/agents-scout-1/out");
  }

  testing::ScratchDirectory scratch_;
  const fs::path data_ = scratch_.path();
};

TEST_F(TrashTest, RecentEntriesStay) {
  empty_trash(data_, SystemClock().now() - 1h);
  EXPECT_TRUE(fs::exists(data_ / "trash/agents-scout-1/notes/a.md"));
  EXPECT_TRUE(fs::exists(data_ / "trash/asset-2"));
}

TEST_F(TrashTest, OnlyOldEntriesAreDeleted) {
  // Only the time in the trash counts, not the age of the files.
  fs::last_write_time(data_ / "trash/asset-2", fs::file_time_type::clock::now() - 24h * 365);
  empty_trash(data_, SystemClock().now() - 1h);
  EXPECT_TRUE(fs::exists(data_ / "trash/asset-2"));
  empty_trash(data_, SystemClock().now() + 1h);
  EXPECT_TRUE(fs::is_empty(data_ / "trash"));
  EXPECT_TRUE(fs::exists(data_ / "kept.md"));
}

TEST_F(TrashTest, AMissingTrashIsNoError) { EXPECT_NO_THROW(empty_trash(data_ / "nowhere", SystemClock().now())); }

}  // namespace
}  // namespace agw
