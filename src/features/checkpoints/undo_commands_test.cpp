#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <ios>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "api/error.hpp"
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
    // Undoes only one of the two paths.
    kept_only_copy(co_await fixture.undo("r", {.paths = std::vector<std::string>{"b.txt"}}));
    // The former content is missing in the store, or its path is occupied.
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

TEST(UndoOfCommands, AnEditAfterAnotherRunsWriteAndBeforeTheListingComesBack) {
  with_fixture([](CheckpointsFixture& fixture) -> Task<> {
    // Delays the listing of the command until both have happened.
    std::promise<int> both;
    const auto happened = both.get_future().share();
    std::vector<StartedWork<int>> busy;
    for (int i = 0; i < 2; ++i) busy.push_back(fixture.blocking.start([happened] { return happened.get(); }));
    TaskGroup group(fixture.loop);
    group.spawn(fixture.command_with("slow", [&]() -> Task<> {
      fixture.edit("a.txt", "of the slow run");
      co_return;
    }));
    for (int i = 0; i < 10; ++i) co_await fixture.database.read(checkpoint_store::last_number);
    co_await fixture.write("other", "a.txt", "of the other run");
    fixture.edit("a.txt", "a person's");
    both.set_value(0);
    co_await group.join();
    EXPECT_EQ((co_await fixture.undo("slow")).restored.size(), 1u);
    EXPECT_EQ(fixture.text("a.txt"), "a person's");
  });
}

/// The contents of all files that a person wrote.
std::set<std::string> contents_of_the_person(const CheckpointsFixture& fixture) {
  std::set<std::string> contents;
  for (const auto& entry : fs::recursive_directory_iterator(fixture.project)) {
    if (!entry.is_regular_file()) continue;
    auto text = fixture.text(entry.path().lexically_relative(fixture.project).string());
    if (text.starts_with("person")) contents.insert(std::move(text));
  }
  return contents;
}

/// Runs whose commands move, delete and write files, some of them ignored, and a person who edits files, in random
/// order. Undoes each run once: every content of the person that was in a file before is in one afterwards.
Task<> move_and_undo(CheckpointsFixture& fixture, unsigned seed) {
  std::mt19937 random(seed);
  const std::array<std::string, 6> names{"a", "b", "d/c", "d/e", "cache/f", "cache/g"};
  const auto pick = [&](std::size_t count) { return random() % count; };
  fixture.edit(".gitignore", "cache/\n");
  for (const auto* directory : {"d", "cache"}) fs::create_directories(fixture.project / directory);
  std::vector<std::string> runs{"run-0"};
  std::size_t undone = 0;
  for (int step = 0; step < 40; ++step) {
    const auto& name = names.at(pick(names.size()));
    const auto action = pick(10);
    if (action < 3) {
      fixture.edit(name, "person " + std::to_string(step));
    } else if (action < 8) {
      co_await fixture.command(runs.back(), [&] {
        fs::create_directories(fixture.project / "d");
        std::error_code missing;
        if (action < 6) fs::rename(fixture.project / name, fixture.project / names.at(pick(names.size())), missing);
        if (action == 6) fs::remove(fixture.project / name);
        if (action == 7) fixture.edit(name, "agent " + std::to_string(step));
      });
      if (pick(3) == 0) runs.push_back("run-" + std::to_string(runs.size()));
    } else if (undone + 1 < runs.size()) {
      const auto before = contents_of_the_person(fixture);
      try {
        co_await fixture.undo(runs.at(undone++));
      } catch (const NotFound&) {
        continue;  // Its commands changed nothing.
      }
      const auto after = contents_of_the_person(fixture);
      EXPECT_TRUE(std::ranges::includes(after, before)) << "seed " << seed << ", step " << step;
    }
    fs::create_directories(fixture.project / "d");
    if (::testing::Test::HasFailure()) co_return;
  }
}

TEST(UndoOfCommands, LeavesEverythingInAFileThatAPersonWroteHoweverItWasMoved) {
  for (unsigned seed = 1; seed <= 10 && !::testing::Test::HasFailure(); ++seed) {
    with_fixture([seed](CheckpointsFixture& fixture) { return move_and_undo(fixture, seed); },
                 std::chrono::seconds(120));
  }
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

TEST(UndoOfCommands, WhatAKillLeftWithoutItsNameBetweenAFileAndADirectoryGetsItBack) {
  with_fixture([](CheckpointsFixture& fixture) -> Task<> {
    fs::create_directories(fixture.project / "a");
    fixture.edit("b", "mine");
    co_await fixture.command("r", [&] {
      fs::remove(fixture.project / "a");
      fixture.edit("a", "new");
    });
    fs::rename(fixture.project / "a", fixture.project / co_await fixture.killed_undo("r"));
    co_await fixture.recover();
    EXPECT_EQ(fixture.text("a"), "new");
    EXPECT_EQ((co_await fixture.undo("r")).restored.size(), 1u);
    EXPECT_TRUE(fs::is_directory(fixture.project / "a"));
    co_await fixture.command("other", [&] {
      fs::remove(fixture.project / "b");
      fs::create_directories(fixture.project / "b");
    });
    fixture.edit(co_await fixture.killed_undo("other"), "mine");
    fs::remove(fixture.project / "b");
    co_await fixture.recover();
    EXPECT_EQ(fixture.text("b"), "mine");
    EXPECT_EQ((co_await fixture.undo("other")).restored.size(), 1u);
    EXPECT_TRUE(fs::is_directory(fixture.project / "b"));
    EXPECT_EQ(std::distance(fs::directory_iterator(fixture.project), fs::directory_iterator()), 2);
  });
}

}  // namespace
}  // namespace agw
