#include "features/filesystem/name_search.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/error.hpp"
#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class NameSearchTest : public ::testing::Test {
protected:
  void make(const std::string& path) { fs::create_directories(root_ / path); }

  std::vector<std::string> found(std::string_view part, SearchBudget budget = {}) {
    const Home home(root_);
    std::vector<std::string> paths;
    for (const auto& entry : NameSearch(home, part, budget).run(root_).value()) {
      EXPECT_EQ(entry.path, (root_ / entry.path).string());
      paths.push_back(fs::path(entry.path).lexically_relative(root_).string());
    }
    return paths;
  }

  testing::ScratchDirectory directory_;
  fs::path root_ = directory_.path();
};

TEST_F(NameSearchTest, TheNearestComeFirstAndThoseOfALevelByPath) {
  make("z/note/note");
  make("a/b/note");
  make("note");
  EXPECT_THAT(found("note"), ElementsAre("note", "z/note", "a/b/note", "z/note/note"));
}

TEST_F(NameSearchTest, ALevelIsSearchedToItsEndBeforeItIsCut) {
  for (int i = 0; i < 40; ++i) make(fmt::format("{:02}/note-{:02}", 39 - i, i));
  const auto paths = found("note");
  EXPECT_EQ(paths.size(), 15u);
  EXPECT_EQ(paths.front(), "00/note-39");
  EXPECT_EQ(paths.back(), "14/note-25");
}

TEST_F(NameSearchTest, AHomeWithinItsBudgetIsSearchedWholeHoweverLongItTakes) {
  make("a/b/note");
  EXPECT_THAT(found("note", {.time = 0ms, .entries = 1000}), ElementsAre("a/b/note"));
}

TEST_F(NameSearchTest, TheSearchOfAHugeHomeEndsWithTheNearestEntries) {
  make("note");
  for (int i = 0; i < 500; ++i) make(fmt::format("{:03}/note-below", i));
  EXPECT_THAT(found("note", {.time = 0ms, .entries = 64}), ::testing::SizeIs(::testing::Le(1)));
  EXPECT_THAT(found("below", {.time = 0ms, .entries = 64}), IsEmpty());
  EXPECT_THAT(found("note"), ::testing::SizeIs(15));
}

TEST_F(NameSearchTest, CaseIsIgnoredInAllScripts) {
  for (const char* name : {"NoTe", "Ärger", "ÄRGER-2", "\u212Aelvin", "kelvin"}) make(name);
  EXPECT_THAT(found("nOtE"), ElementsAre("NoTe"));
  EXPECT_THAT(found("äRG"), ElementsAre("ÄRGER-2", "Ärger"));
  EXPECT_THAT(found("RGE"), ElementsAre("ÄRGER-2", "Ärger"));
  EXPECT_THAT(found("KELVIN"), ElementsAre("kelvin", "\u212Aelvin")) << "whose K is the sign of a unit";
  EXPECT_THAT(found("\u212AELVIN"), ElementsAre("kelvin", "\u212Aelvin"));
}

TEST_F(NameSearchTest, AMissingDirectoryIsAnErrorOnlyAtTheRoot) {
  const Home home(root_);
  EXPECT_EQ(NameSearch(home, "note").run(root_ / "gone").error(), FileError::not_found);
}

TEST(HomeTest, MayBeNarrowedFurther) {
  testing::ScratchDirectory directory;
  fs::create_directories(directory.path() / "private/inner");
  const Home home(directory.path());
  const AllowedPlace allowed = [&](const fs::path& path) { return path.filename() != "private"; };
  EXPECT_EQ(home.require_directory((directory.path() / "private/inner").string(), allowed),
            directory.path() / "private/inner");
  EXPECT_THROW(home.require_directory((directory.path() / "private").string(), allowed), Forbidden);
}

}  // namespace
}  // namespace agw
