#include "io/sandbox/sandbox_placeholders.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

namespace fs = std::filesystem;

class SandboxPlaceholdersTest : public ::testing::Test {
protected:
  SandboxPlaceholdersTest() {
    fs::create_directories(data_);
    fs::create_directories(project_);
  }

  /// Creates a placeholder as a killed gateway leaves it.
  void hold(const fs::path& path) { EXPECT_TRUE(SandboxPlaceholders(data_).hold(path)); }

  testing::ScratchDirectory scratch_;
  fs::path data_ = scratch_.path() / "data";
  fs::path project_ = scratch_.path() / "a project\nof two lines";
  fs::path git_ = project_ / ".git";
};

TEST_F(SandboxPlaceholdersTest, GoWithTheLastCommandAndLeaveNoNote) {
  SandboxPlaceholders placeholders(data_);
  EXPECT_TRUE(placeholders.hold(git_));
  EXPECT_TRUE(placeholders.hold(git_));
  placeholders.release({git_});
  EXPECT_TRUE(fs::exists(git_));
  placeholders.release({git_});
  EXPECT_FALSE(fs::exists(git_));
  EXPECT_TRUE(fs::is_empty(data_));
}

TEST_F(SandboxPlaceholdersTest, ExistingEntriesAreNoPlaceholders) {
  fs::create_directory(git_);
  EXPECT_FALSE(SandboxPlaceholders(data_).hold(git_));
  EXPECT_EQ(remove_stale_placeholders(data_), 0u);
  EXPECT_TRUE(fs::exists(git_));
}

TEST_F(SandboxPlaceholdersTest, ThoseOfAKilledGatewayAreSwept) {
  SandboxPlaceholders placeholders(data_);
  EXPECT_TRUE(placeholders.hold(git_));
  EXPECT_TRUE(placeholders.hold(project_ / ".agents"));
  EXPECT_EQ(remove_stale_placeholders(data_), 2u);
  EXPECT_TRUE(fs::is_empty(project_));
  EXPECT_TRUE(fs::is_empty(data_));
}

TEST_F(SandboxPlaceholdersTest, LaterContentIsKept) {
  hold(git_);
  fs::create_directory(git_ / "objects");
  EXPECT_EQ(remove_stale_placeholders(data_), 0u);
  EXPECT_TRUE(fs::exists(git_ / "objects"));
}

TEST_F(SandboxPlaceholdersTest, AnEmptyDirectoryOfAnotherProgramIsKept) {
  hold(git_);
  fs::remove(git_);
  fs::create_directory(git_);
  EXPECT_EQ(remove_stale_placeholders(data_), 0u);
  EXPECT_TRUE(fs::exists(git_));
  hold(project_ / ".agents");
  fs::create_directory(project_ / ".agents/skills");
  fs::remove(project_ / ".agents/skills");
  EXPECT_EQ(remove_stale_placeholders(data_), 0u);
  EXPECT_TRUE(fs::exists(project_ / ".agents"));
}

TEST_F(SandboxPlaceholdersTest, AFileIsOneAsADirectoryIs) {
  const auto file = project_ / "commondir";
  SandboxPlaceholders placeholders(data_);
  EXPECT_TRUE(placeholders.hold(file, ".\n"));
  placeholders.release({file});
  EXPECT_FALSE(fs::exists(file));
  EXPECT_TRUE(placeholders.hold(file, ".\n"));
  EXPECT_EQ(remove_stale_placeholders(data_), 1u);
  EXPECT_FALSE(fs::exists(file));
}

TEST_F(SandboxPlaceholdersTest, AReplacedFileIsKept) {
  const auto file = project_ / "commondir";
  SandboxPlaceholders placeholders(data_);
  EXPECT_TRUE(placeholders.hold(file, ".\n"));
  std::ofstream(project_ / "other") << "../..";
  fs::rename(project_ / "other", file);
  EXPECT_EQ(remove_stale_placeholders(data_), 0u);
  placeholders.release({file});
  EXPECT_TRUE(fs::exists(file));
}

TEST_F(SandboxPlaceholdersTest, OneThatAPersonRemovedIsMadeAgainForTheNextCommand) {
  const auto file = project_ / "commondir";
  SandboxPlaceholders placeholders(data_);
  EXPECT_TRUE(placeholders.hold(file, ".\n"));
  fs::remove(file);
  EXPECT_TRUE(placeholders.hold(file, ".\n"));
  EXPECT_TRUE(fs::exists(file));
  placeholders.release({file});
  EXPECT_TRUE(fs::exists(file)) << "the other command still holds it";
  placeholders.release({file});
  EXPECT_FALSE(fs::exists(file));
}

TEST_F(SandboxPlaceholdersTest, AFileThatABackupHasLinkedGoesAwayWithItsCommand) {
  const auto file = project_ / "commondir";
  SandboxPlaceholders placeholders(data_);
  EXPECT_TRUE(placeholders.hold(file, ".\n"));
  fs::create_hard_link(file, project_ / "backup");
  placeholders.release({file});
  EXPECT_FALSE(fs::exists(file));
}

TEST_F(SandboxPlaceholdersTest, TheNoteForgetsThoseThatAreGone) {
  SandboxPlaceholders placeholders(data_);
  EXPECT_TRUE(placeholders.hold(git_));
  for (int i = 0; i < 2000; ++i) {
    EXPECT_TRUE(placeholders.hold(project_ / ".agents"));
    placeholders.release({project_ / ".agents"});
  }
  EXPECT_LT(fs::file_size(data_ / "placeholders"), 100'000u);
  EXPECT_EQ(remove_stale_placeholders(data_), 1u);
  EXPECT_FALSE(fs::exists(git_));
}

TEST_F(SandboxPlaceholdersTest, WithoutANoteNothingIsSwept) {
  EXPECT_EQ(remove_stale_placeholders(data_), 0u);
  EXPECT_EQ(remove_stale_placeholders(data_ / "missing"), 0u);
}

}  // namespace
}  // namespace agw
