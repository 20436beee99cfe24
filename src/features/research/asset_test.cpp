#include "features/research/asset.hpp"

#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

namespace fs = std::filesystem;

const AssetCopy original{"as it was\n", 0640};

void write_text(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

std::string read_text(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

dev_t file_system_of(const fs::path& path) {
  struct stat status{};
  ::stat(path.c_str(), &status);
  return status.st_dev;
}

class AssetTest : public ::testing::Test {
protected:
  bool is_put_back() const { return put_asset_back(asset_, original, trace_); }

  void expect_put_back() const {
    EXPECT_TRUE(is_put_back());
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(asset_)));
    EXPECT_EQ(read_asset(asset_).bytes, original.bytes);
    EXPECT_EQ(read_asset(asset_).mode, original.mode);
  }

  testing::ScratchDirectory scratch_;
  fs::path asset_ = scratch_.path() / "asset.md";
  fs::path kept_ = scratch_.path() / "trash/asset-1";
  AssetTrace trace_{.left = "as the agent left it\n", .kept = kept_};
};

TEST_F(AssetTest, WhatTheIterationLeftIsReplaced) {
  write_text(asset_, trace_.left);
  expect_put_back();
  EXPECT_FALSE(fs::exists(kept_));
}

TEST_F(AssetTest, AMissingOneIsCreatedAgain) {
  asset_ = scratch_.path() / "gone/asset.md";
  expect_put_back();
  EXPECT_FALSE(fs::exists(kept_));
}

TEST_F(AssetTest, WhatOnlyAnotherWriterCanHaveWrittenStays) {
  write_text(asset_, "by hand\n");
  EXPECT_FALSE(is_put_back());
  EXPECT_EQ(read_text(asset_), "by hand\n");
}

TEST_F(AssetTest, WhatAnotherWriterMayHaveWrittenIsKept) {
  write_text(asset_, "by hand\n");
  trace_.may_differ = true;
  expect_put_back();
  EXPECT_EQ(read_text(kept_), "by hand\n");
}

TEST_F(AssetTest, WhatTheIterationLeftIsKeptWhereThatIsUnclear) {
  write_text(asset_, trace_.left);
  trace_.is_unclear = true;
  expect_put_back();
  EXPECT_EQ(read_text(kept_), trace_.left);
}

TEST_F(AssetTest, ADirectoryInItsPlaceIsKept) {
  fs::create_directories(asset_);
  write_text(asset_ / "notes.md", "by hand\n");
  trace_.may_differ = true;
  expect_put_back();
  EXPECT_EQ(read_text(kept_ / "notes.md"), "by hand\n");
}

/// The asset and the trash are on different file systems.
class FarAssetTest : public AssetTest {
protected:
  FarAssetTest() {
    trace_.may_differ = true;
    std::string pattern = "/dev/shm/agw-test-XXXXXX";
    if (!mkdtemp(pattern.data())) return;
    far_ = pattern;
    asset_ = far_ / "asset.md";
  }
  void SetUp() override {
    if (far_.empty() || file_system_of(far_) == file_system_of(scratch_.path())) {
      GTEST_SKIP() << "/dev/shm is no other file system here";
    }
  }

  void TearDown() override {
    std::error_code ignored;
    if (!far_.empty()) fs::remove_all(far_, ignored);
  }

  fs::path far_;
};

TEST_F(FarAssetTest, ADirectoryInItsPlaceIsKept) {
  fs::create_directories(asset_ / "deep");
  write_text(asset_ / "deep/notes.md", "by hand\n");
  fs::create_symlink("nowhere", asset_ / "link");
  expect_put_back();
  EXPECT_EQ(read_text(kept_ / "deep/notes.md"), "by hand\n");
  EXPECT_EQ(fs::read_symlink(kept_ / "link"), "nowhere");
}

TEST_F(FarAssetTest, ASymlinkInItsPlaceIsKeptAndNotFollowed) {
  write_text(far_ / "other.md", "another file\n");
  fs::create_symlink(far_ / "other.md", asset_);
  expect_put_back();
  EXPECT_EQ(fs::read_symlink(kept_), far_ / "other.md");
  EXPECT_EQ(read_text(far_ / "other.md"), "another file\n");
}

TEST_F(FarAssetTest, OneThatBecameTooLargeIsKept) {
  write_text(asset_, std::string(max_asset_length + 1, 'x'));
  expect_put_back();
  EXPECT_EQ(fs::file_size(kept_), max_asset_length + 1);
}

/// The state after a kill while copied files were being removed.
TEST_F(FarAssetTest, WhatIsKeptAlreadyIsNotOverwritten) {
  fs::create_directories(kept_);
  write_text(kept_ / "first.md", "copied before\n");
  fs::create_directories(asset_);
  write_text(asset_ / "second.md", "not removed yet\n");
  expect_put_back();
  EXPECT_EQ(read_text(kept_ / "first.md"), "copied before\n");
  EXPECT_EQ(read_text(kept_.string() + "-2/second.md"), "not removed yet\n");
}

}  // namespace
}  // namespace agw
