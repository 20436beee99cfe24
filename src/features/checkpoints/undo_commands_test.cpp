#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <ios>
#include <string>
#include <vector>

#include "features/checkpoints/blob_store.hpp"
#include "features/checkpoints/service.hpp"
#include "testing/checkpoints_fixture.hpp"

namespace agw {
namespace {

namespace fs = std::filesystem;

using testing::CheckpointsFixture;
using testing::with_fixture;

TEST(UndoOfCommands, UndoNeverTakesTheOnlyCopyOfWhatACommandMoved) {
  with_fixture([](CheckpointsFixture& fixture) -> Task<> {
    fixture.edit("a.txt", "a person's");
    co_await fixture.command("r", [&] { fs::rename(fixture.project / "a.txt", fixture.project / "b.txt"); });
    const auto kept_only_copy = [&](const UndoneFiles& undone) {
      EXPECT_TRUE(undone.restored.empty());
      const auto found = std::ranges::find(undone.kept, fixture.shown("b.txt"), &KeptFile::path);
      EXPECT_TRUE(found != undone.kept.end() && found->reason.starts_with("the only copy of what the run moved here"));
      EXPECT_EQ(fixture.text("b.txt"), "a person's");
    };
    // A part of it is undone.
    kept_only_copy(co_await fixture.undo("r", {.paths = std::vector<std::string>{"b.txt"}}));
    // Its former content is gone from the store, or there is something else in its place.
    const auto blob = fixture.scratch.path() / "checkpoints" / blob_name("a person's");
    fs::rename(blob, fixture.scratch.path() / "aside");
    kept_only_copy(co_await fixture.undo("r"));
    fs::rename(fixture.scratch.path() / "aside", blob);
    fixture.edit("a.txt", "newer");
    kept_only_copy(co_await fixture.undo("r"));
    fs::remove(fixture.project / "a.txt");
    EXPECT_EQ((co_await fixture.undo("r")).restored.size(), 2u);
    EXPECT_EQ(fixture.text("a.txt"), "a person's");
    EXPECT_FALSE(fixture.exists("b.txt"));
    EXPECT_EQ((co_await fixture.undo("r")).restored.size(), 2u);
    EXPECT_EQ(fixture.text("b.txt"), "a person's");
    EXPECT_FALSE(fixture.exists("a.txt"));
  });
}

TEST(UndoOfCommands, UndoNeverTakesTheOnlyCopyOfWhatWasMovedAndChangedByTwoCommands) {
  with_fixture([](CheckpointsFixture& fixture) -> Task<> {
    fixture.edit("a.txt", "a person's");
    co_await fixture.command("r", [&] { std::ofstream(fixture.project / "a.txt", std::ios::app) << " and more"; });
    co_await fixture.command("r", [&] { fs::rename(fixture.project / "a.txt", fixture.project / "b.txt"); });
    co_await fixture.command("r", [&] { std::ofstream(fixture.project / "b.txt", std::ios::app) << " and more"; });
    fixture.edit("a.txt", "newer");
    auto undone = co_await fixture.undo("r");
    EXPECT_TRUE(undone.restored.empty());
    EXPECT_EQ(fixture.text("b.txt"), "a person's and more and more");
    fs::remove(fixture.project / "a.txt");
    undone = co_await fixture.undo("r");
    EXPECT_EQ(undone.restored.size(), 2u);
    EXPECT_EQ(fixture.text("a.txt"), "a person's");
    EXPECT_FALSE(fixture.exists("b.txt"));
  });
}

TEST(UndoOfCommands, FilesThatACommandExchangedGoBack) {
  with_fixture([](CheckpointsFixture& fixture) -> Task<> {
    fixture.edit("a.txt", "a");
    fixture.edit("b.txt", "b");
    co_await fixture.command("r", [&] {
      fs::rename(fixture.project / "a.txt", fixture.project / "c.txt");
      fs::rename(fixture.project / "b.txt", fixture.project / "a.txt");
      fs::rename(fixture.project / "c.txt", fixture.project / "b.txt");
    });
    EXPECT_EQ((co_await fixture.undo("r")).restored.size(), 2u);
    EXPECT_EQ(fixture.text("a.txt"), "a");
    EXPECT_EQ(fixture.text("b.txt"), "b");
  });
}

TEST(UndoOfCommands, UndoKeepsAndNamesWhatWasMovedFromWhereNothingIsKept) {
  with_fixture([](CheckpointsFixture& fixture) -> Task<> {
    fixture.edit(".gitignore", "cache/\n");
    fs::create_directories(fixture.project / "cache");
    fixture.edit("cache/thesis.txt", "months of work");
    fixture.edit("cache/notes.txt", "more of it");
    fixture.edit("b.txt", "kept");
    co_await fixture.command("r", [&] {
      fs::rename(fixture.project / "cache/thesis.txt", fixture.project / "thesis.txt");
      fs::rename(fixture.project / "cache/notes.txt", fixture.project / "b.txt");
    });
    const std::string reason = "moved here from where nothing is kept: this may be the only copy";
    auto undone = co_await fixture.undo("r");
    EXPECT_TRUE(undone.restored.empty());
    EXPECT_EQ(undone.kept.size(), 2u);
    for (const auto& each : undone.kept) EXPECT_EQ(each.reason, reason) << each.path;
    EXPECT_EQ(fixture.text("thesis.txt"), "months of work");
    EXPECT_EQ(fixture.text("b.txt"), "more of it");
    undone = co_await fixture.undo("r", {.force = true});
    EXPECT_EQ(undone.restored, std::vector{fixture.shown("b.txt")});
    EXPECT_EQ(fixture.text("b.txt"), "kept");
    EXPECT_EQ(fixture.text("thesis.txt"), "months of work");
    EXPECT_TRUE(fs::exists(fixture.scratch.path() / "checkpoints" / blob_name("more of it")));
  });
}

TEST(UndoOfCommands, UndoLeavesWhatCommandsOfTwoRunsMayHaveChanged) {
  with_fixture([](CheckpointsFixture& fixture) -> Task<> {
    fixture.edit("a.txt", "old");
    fixture.edit("b.txt", "old");
    co_await fixture.command_with("slow", [&]() -> Task<> {
      co_await fixture.command("quick", [&] { fixture.edit("b.txt", "of the quick run"); });
      fixture.advance_file_clock();
      fixture.edit("a.txt", "of the slow run");
    });
    auto undone = co_await fixture.undo("quick");
    EXPECT_TRUE(undone.restored.empty());
    EXPECT_EQ(undone.kept.at(0).path, fixture.shown("b.txt"));
    EXPECT_EQ(fixture.text("b.txt"), "of the quick run");
    const auto changes = co_await fixture.checkpoints.changes("slow");
    EXPECT_EQ(changes.not_covered.at(0).reason, "another run changed it while a command ran");
    undone = co_await fixture.undo("slow");
    EXPECT_EQ(undone.restored, std::vector{fixture.shown("a.txt")});
    undone = co_await fixture.undo("quick", {.force = true});
    EXPECT_EQ(fixture.text("b.txt"), "old");
  });
}

TEST(UndoOfCommands, ACommandThatChangesWhatAnotherRunWroteMeanwhileGoesBackToThat) {
  with_fixture([](CheckpointsFixture& fixture) -> Task<> {
    fixture.edit("a.txt", "old");
    co_await fixture.command_with("slow", [&]() -> Task<> {
      co_await fixture.write("other", "a.txt", "of the other run");
      fixture.edit("a.txt", "of the slow run");
    });
    EXPECT_EQ((co_await fixture.undo("slow")).restored.size(), 1u);
    EXPECT_EQ(fixture.text("a.txt"), "of the other run");
    EXPECT_EQ((co_await fixture.undo("other")).restored.size(), 1u);
    EXPECT_EQ(fixture.text("a.txt"), "old");
  });
}

TEST(UndoOfCommands, WithForceBringsADeletedFileBackWhereAPersonHasMadeANewOne) {
  with_fixture([](CheckpointsFixture& fixture) -> Task<> {
    fixture.edit("a.txt", "old");
    co_await fixture.command("r", [&] { fs::remove(fixture.project / "a.txt"); });
    fixture.edit("a.txt", "a person's new one");
    EXPECT_EQ((co_await fixture.undo("r")).kept.at(0).reason, "changed since");
    EXPECT_EQ((co_await fixture.undo("r", {.force = true})).restored, std::vector{fixture.shown("a.txt")});
    EXPECT_EQ(fixture.text("a.txt"), "old");
    EXPECT_TRUE(fs::exists(fixture.scratch.path() / "checkpoints" / blob_name("a person's new one")));
    EXPECT_EQ((co_await fixture.undo("r")).restored.size(), 1u);
    EXPECT_EQ(fixture.text("a.txt"), "a person's new one");
  });
}

TEST(UndoOfCommands, AFileThatBecameADirectoryIsAFileAgain) {
  with_fixture([](CheckpointsFixture& fixture) -> Task<> {
    fixture.edit("a", "mine");
    co_await fixture.command("r", [&] {
      fs::remove(fixture.project / "a");
      fs::create_directories(fixture.project / "a/b");
      fixture.edit("a/b/c.txt", "new");
    });
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ((co_await fixture.undo("r")).kept.size(), 0u);
      EXPECT_EQ(fixture.text("a"), "mine");
      EXPECT_EQ((co_await fixture.undo("r")).kept.size(), 0u);
      EXPECT_EQ(fixture.text("a/b/c.txt"), "new");
    }
    fixture.edit("a/persons.txt", "a person's");
    const auto undone = co_await fixture.undo("r");
    EXPECT_EQ(undone.kept.at(0).path, fixture.shown("a"));
    EXPECT_EQ(undone.kept.at(0).reason, "not empty");
    EXPECT_EQ(fixture.text("a/persons.txt"), "a person's");
  });
}

TEST(UndoOfCommands, ADirectoryThatBecameAFileIsADirectoryAgain) {
  with_fixture([](CheckpointsFixture& fixture) -> Task<> {
    fs::create_directories(fixture.project / "a/b");
    fixture.edit("a/b/c.txt", "mine");
    co_await fixture.command("r", [&] {
      fs::remove_all(fixture.project / "a");
      fixture.edit("a", "new");
    });
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ((co_await fixture.undo("r")).kept.size(), 0u);
      EXPECT_EQ(fixture.text("a/b/c.txt"), "mine");
      EXPECT_EQ((co_await fixture.undo("r")).kept.size(), 0u);
      EXPECT_EQ(fixture.text("a"), "new");
    }
    fixture.edit("a", "a person's");
    EXPECT_EQ((co_await fixture.undo("r")).kept.at(0).reason, "changed since");
    EXPECT_EQ(fixture.text("a"), "a person's");
  });
}

}  // namespace
}  // namespace agw
