#include "io/files/update_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <system_error>

#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_size = 1000;

class UpdateFileTest : public ::testing::Test {
protected:
  void SetUp() override { fs::create_directory(path().parent_path()); }
  fs::path path() const { return scratch_.path() / "notes" / "a.md"; }
  FileResult<void> update(const FileEdit& change, mode_t mode = 0600, Durability durability = Durability::now) const {
    return update_file(root_, "notes/a.md", max_size, change, mode, durability);
  }
  const Directory& root() const { return root_; }
  /// Saves the file as an editor does.
  void save(const std::string& text) const {
    const auto draft = path().string() + "~";
    std::ofstream(draft) << text;
    fs::rename(draft, path());
  }
  std::string text() const {
    std::ifstream file(path());
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::ptrdiff_t entries() const {
    return std::distance(fs::directory_iterator(path().parent_path()), fs::directory_iterator());
  }

private:
  testing::ScratchDirectory scratch_;
  Directory root_ = Directory::open(scratch_.path()).value();
};

std::optional<std::string> add_line(const std::string* present) { return (present ? *present : "") + "line\n"; }

TEST_F(UpdateFileTest, CreatesAndChangesAFile) {
  ASSERT_TRUE(update([](const std::string* present) {
    EXPECT_EQ(present, nullptr);
    return std::optional<std::string>("one\n");
  }));
  ASSERT_TRUE(update(add_line, 0640, Durability::later));
  EXPECT_EQ(text(), "one\nline\n");
  EXPECT_EQ(static_cast<unsigned>(fs::status(path()).permissions()), 0640u);
  EXPECT_EQ(entries(), 1);
}

TEST_F(UpdateFileTest, LeavesTheFileIfNothingIsToChange) {
  ASSERT_TRUE(update([](const std::string*) { return std::nullopt; }));
  EXPECT_EQ(entries(), 0);
}

TEST_F(UpdateFileTest, KeepsWhatWasSavedMeanwhile) {
  for (const auto durability : {Durability::now, Durability::later}) {
    for (const bool is_there : {false, true}) {
      fs::remove(path());
      if (is_there) save("first\n");
      int calls = 0;
      ASSERT_TRUE(update(
          [&](const std::string* present) {
            const auto next = add_line(present);
            if (++calls == 1) save("a person's\n");
            return next;
          },
          0600, durability));
      EXPECT_EQ(calls, 2);
      EXPECT_EQ(text(), "a person's\nline\n");
      EXPECT_EQ(entries(), 1);
    }
  }
}

TEST_F(UpdateFileTest, KeepsWhatWasWrittenInPlaceMeanwhile) {
  save("first\n");
  int calls = 0;
  ASSERT_TRUE(update([&](const std::string* present) {
    const auto next = add_line(present);
    if (++calls == 1) std::ofstream(path(), std::ios::app) << "more\n";
    return next;
  }));
  EXPECT_EQ(text(), "first\nmore\nline\n");
}

TEST_F(UpdateFileTest, DoesNotBringBackWhatWasRemovedMeanwhile) {
  save("first\n");
  int calls = 0;
  ASSERT_TRUE(update([&](const std::string* present) {
    const auto next = add_line(present);
    if (++calls == 1) fs::remove(path());
    return next;
  }));
  EXPECT_EQ(text(), "line\n");
}

TEST_F(UpdateFileTest, GivesUpIfTheFileIsSavedAgainAndAgain) {
  int calls = 0;
  const auto change = [&](const std::string* present) {
    save(std::to_string(++calls));
    return add_line(present);
  };
  EXPECT_THROW(update(change).value(), std::system_error);
  EXPECT_GT(calls, 3);
  EXPECT_EQ(text(), std::to_string(calls));
  EXPECT_EQ(entries(), 1);
}

TEST_F(UpdateFileTest, DoesNotCallForAFileThatCannotBeRead) {
  const auto never = [](const std::string*) -> std::optional<std::string> {
    ADD_FAILURE();
    return std::nullopt;
  };
  save(std::string(max_size + 1, 'x'));
  EXPECT_EQ(update(never).error(), FileError::too_large);
  fs::remove(path());
  fs::create_directory(path());
  EXPECT_EQ(update(never).error(), FileError::is_directory);
}

TEST_F(UpdateFileTest, RemovesOnlyTheVersionThatWasJudged) {
  save("first\n");
  const auto remove = [&](const std::function<void()>& meanwhile) {
    return remove_file_if(root(), "notes/a.md", max_size, [&](const std::string& present) {
      meanwhile();
      return present == "first\n";
    });
  };
  ASSERT_TRUE(remove([&] { save("a person's\n"); }));
  EXPECT_EQ(text(), "a person's\n");
  save("first\n");
  ASSERT_TRUE(remove([] {}));
  EXPECT_EQ(entries(), 0);
  ASSERT_TRUE(remove([] { ADD_FAILURE() << "there is no file"; }));
}

TEST_F(UpdateFileTest, ReplacesWhatIsThereUnlessItIsADirectory) {
  const auto replace = [&] { return replace_unchanged_file(root(), "notes/a.md", "new\n", 0640); };
  ASSERT_TRUE(replace().value());
  save(std::string(max_size + 1, 'x'));
  ASSERT_TRUE(replace().value());
  EXPECT_EQ(text(), "new\n");
  EXPECT_EQ(static_cast<unsigned>(fs::status(path()).permissions()), 0640u);
  EXPECT_EQ(entries(), 1);
  fs::remove(path());
  fs::create_directory(path());
  EXPECT_EQ(replace().error(), FileError::is_directory);
}

TEST_F(UpdateFileTest, ReplacesASymlinkAndNotItsTarget) {
  save("first\n");
  const auto target = path().parent_path() / "b.md";
  fs::rename(path(), target);
  fs::create_symlink("b.md", path());
  ASSERT_TRUE(update(add_line));
  EXPECT_FALSE(fs::is_symlink(path()));
  EXPECT_EQ(text(), "first\nline\n");
  std::ifstream file(target);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "first\n");
}

}  // namespace
}  // namespace agw
