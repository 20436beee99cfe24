#include "features/checkpoints/service.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/error.hpp"
#include "base/containers.hpp"
#include "features/checkpoints/store.hpp"
#include "testing/checkpoints_fixture.hpp"
#include "testing/run.hpp"
#include "testing/scratch_directory.hpp"
#include "tools/files/write_target.hpp"

namespace agw {
namespace {

namespace fs = std::filesystem;

using testing::CheckpointsFixture;
using testing::with_fixture;

TEST(Checkpoints, UndoBringsBackWhatTheRunReplaced) {
  with_fixture([](CheckpointsFixture& fixture) -> Task<> {
    fixture.edit("a.txt", "mine\n");
    ::chmod((fixture.project / "a.txt").c_str(), 0640);
    co_await fixture.write("r", "a.txt", "the agent's\n");
    co_await fixture.write("r", "new/deep/b.txt", "new\n");
    EXPECT_EQ(fixture.text("a.txt"), "the agent's\n");
    const auto undone = co_await fixture.undo("r");
    EXPECT_EQ(undone.restored.size(), 4u);
    EXPECT_TRUE(undone.kept.empty());
    EXPECT_EQ(fixture.text("a.txt"), "mine\n");
    EXPECT_FALSE(fixture.exists("new"));
  });
}

TEST(Checkpoints, AnUndoCanBeUndoneAndDoneAgain) {
  with_fixture([](CheckpointsFixture& fixture) -> Task<> {
    fixture.edit("a.txt", "mine");
    co_await fixture.write("r", "a.txt", "one");
    co_await fixture.write("r", "a.txt", "two");
    co_await fixture.write("r", "b/c.txt", "new");
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ((co_await fixture.undo("r")).restored.size(), 3u);
      EXPECT_EQ(fixture.text("a.txt"), "mine");
      EXPECT_FALSE(fixture.exists("b"));
      EXPECT_EQ((co_await fixture.undo("r")).restored.size(), 3u);
      EXPECT_EQ(fixture.text("a.txt"), "two");
      EXPECT_EQ(fixture.text("b/c.txt"), "new");
    }
  });
}

TEST(Checkpoints, UndoNeverRestoresAFileThatAPersonChangedSince) {
  with_fixture([](CheckpointsFixture& fixture) -> Task<> {
    fixture.edit("a.txt", "weeks old");
    co_await fixture.write("r", "a.txt", "the agent's");
    fixture.edit("a.txt", "1,300 lines of a person");
    auto undone = co_await fixture.undo("r");
    EXPECT_TRUE(undone.restored.empty());
    EXPECT_EQ(undone.kept.at(0).path, fixture.shown("a.txt"));
    EXPECT_EQ(undone.kept.at(0).reason, "changed since");
    EXPECT_EQ(fixture.text("a.txt"), "1,300 lines of a person");
    undone = co_await fixture.undo("r", {.force = true});
    EXPECT_EQ(undone.restored.size(), 1u);
    EXPECT_EQ(fixture.text("a.txt"), "weeks old");
    co_await fixture.undo("r");
    EXPECT_EQ(fixture.text("a.txt"), "1,300 lines of a person");
  });
}

TEST(Checkpoints, UndoNeverDeletesWhatTheRunDidNotCreate) {
  with_fixture([](CheckpointsFixture& fixture) -> Task<> {
    co_await fixture.write("r", "dir/created.txt", "the agent's");
    fixture.edit("dir/mine.txt", "a person's");
    const auto undone = co_await fixture.undo("r");
    EXPECT_EQ(undone.restored, std::vector{fixture.shown("dir/created.txt")});
    EXPECT_EQ(undone.kept.at(0).path, fixture.shown("dir"));
    EXPECT_EQ(undone.kept.at(0).reason, "not empty");
    EXPECT_EQ(fixture.text("dir/mine.txt"), "a person's");
  });
}

TEST(Checkpoints, UndoNeverTouchesTimesOfOtherFilesAndBringsThoseOfItsOwnBack) {
  with_fixture([](CheckpointsFixture& fixture) -> Task<> {
    fixture.edit("a.txt", "mine");
    fixture.edit("other.txt", "not touched");
    const std::array times{timespec{.tv_sec = 1'000'000, .tv_nsec = 11}, timespec{.tv_sec = 2'000'000, .tv_nsec = 22}};
    for (const auto* name : {"a.txt", "other.txt"}) {
      ::utimensat(AT_FDCWD, (fixture.project / name).c_str(), times.data(), 0);
      ::chmod((fixture.project / name).c_str(), 0751);
    }
    co_await fixture.write("r", "a.txt", "the agent's");
    co_await fixture.undo("r");
    for (const auto* name : {"a.txt", "other.txt"}) {
      struct stat status{};
      EXPECT_EQ(::stat((fixture.project / name).c_str(), &status), 0);
      EXPECT_EQ(status.st_mtim.tv_sec, 2'000'000) << name;
      EXPECT_EQ(status.st_mtim.tv_nsec, 22) << name;
      EXPECT_EQ(status.st_mode & 07777u, 0751u) << name;
    }
  });
}

TEST(Checkpoints, UndoNeverFollowsASymlink) {
  with_fixture([](CheckpointsFixture& fixture) -> Task<> {
    co_await fixture.write("r", "dir/a.txt", "the agent's");
    co_await fixture.write("r", "b.txt", "the agent's");
    fs::create_directories(fixture.roots.home / "elsewhere");
    std::ofstream(fixture.roots.home / "elsewhere/a.txt") << "the agent's";
    fs::remove_all(fixture.project / "dir");
    fs::create_symlink(fixture.roots.home / "elsewhere", fixture.project / "dir");
    fs::rename(fixture.project / "b.txt", fixture.roots.home / "elsewhere/b.txt");
    fs::create_symlink(fixture.roots.home / "elsewhere/b.txt", fixture.project / "b.txt");
    for (const bool force : {false, true}) {
      const auto undone = co_await fixture.undo("r", {.force = force});
      EXPECT_TRUE(undone.restored.empty());
      EXPECT_EQ(undone.kept.size(), 3u);
      EXPECT_TRUE(fs::is_symlink(fixture.project / "dir"));
      EXPECT_TRUE(fs::is_symlink(fixture.project / "b.txt"));
      EXPECT_TRUE(fs::exists(fixture.roots.home / "elsewhere/a.txt"));
      EXPECT_TRUE(fs::exists(fixture.roots.home / "elsewhere/b.txt"));
    }
  });
}

TEST(Checkpoints, UndoOfOneRunKeepsWhatALaterRunWrote) {
  with_fixture([](CheckpointsFixture& fixture) -> Task<> {
    fixture.edit("a.txt", "mine");
    co_await fixture.write("first", "a.txt", "one");
    co_await fixture.write("second", "a.txt", "two");
    EXPECT_EQ((co_await fixture.undo("first")).kept.size(), 1u);
    EXPECT_EQ(fixture.text("a.txt"), "two");
    EXPECT_EQ((co_await fixture.undo("second")).restored.size(), 1u);
    EXPECT_EQ((co_await fixture.undo("first")).restored.size(), 1u);
    EXPECT_EQ(fixture.text("a.txt"), "mine");
  });
}

TEST(Checkpoints, UndoStopsAtAnEditBetweenTwoWritesOfTheRun) {
  with_fixture([](CheckpointsFixture& fixture) -> Task<> {
    fixture.edit("a.txt", "old");
    co_await fixture.write("r", "a.txt", "one");
    fixture.edit("a.txt", "a person's edit");
    co_await fixture.write("r", "a.txt", "two");
    const auto undone = co_await fixture.undo("r");
    EXPECT_EQ(undone.restored.size(), 1u);
    EXPECT_EQ(undone.kept.size(), 1u);
    EXPECT_EQ(fixture.text("a.txt"), "a person's edit");
  });
}

TEST(Checkpoints, UndoOfChosenPathsLeavesTheOthers) {
  with_fixture([](CheckpointsFixture& fixture) -> Task<> {
    co_await fixture.write("r", "a.txt", "a");
    co_await fixture.write("r", "b.txt", "b");
    const auto undone = co_await fixture.undo("r", {.paths = std::vector<std::string>{"a.txt", "c.txt"}});
    EXPECT_EQ(undone.restored, std::vector{fixture.shown("a.txt")});
    EXPECT_EQ(undone.kept.at(0).path, "c.txt");
    EXPECT_FALSE(fixture.exists("a.txt"));
    EXPECT_EQ(fixture.text("b.txt"), "b");
  });
}

TEST(Checkpoints, ALargeFileIsReportedAsNotCovered) {
  with_fixture([](CheckpointsFixture& fixture) -> Task<> {
    fixture.edit("large.bin", std::string(200'000, 'x'));
    co_await fixture.write("r", "large.bin", "small");
    const auto changes = co_await fixture.checkpoints.changes("r");
    EXPECT_EQ(changes.not_covered.at(0).path, fixture.shown("large.bin"));
    const auto undone = co_await fixture.undo("r");
    EXPECT_EQ(undone.kept.at(0).reason, "its former content was not kept");
    EXPECT_EQ(fixture.text("large.bin"), "small");
  });
}

TEST(Checkpoints, PrivateFilesAreNeverKept) {
  with_fixture([](CheckpointsFixture& fixture) -> Task<> {
    fixture.edit("server.key", "secret");
    EXPECT_THROW(co_await fixture.write("r", "server.key", "x"), ApiError);
    EXPECT_EQ(fixture.text("server.key"), "secret");
    EXPECT_FALSE(fs::exists(fixture.scratch.path() / "checkpoints" / blob_name("secret")));
  });
}

TEST(Checkpoints, AWriteWhoseFormerContentCannotBeKeptIsRefusedAndNotRecorded) {
  with_fixture([](CheckpointsFixture& fixture) -> Task<> {
    fixture.edit("a.txt", "mine");
    std::ofstream(fixture.scratch.path() / "checkpoints") << "a file where the directory of the contents was";
    EXPECT_THROW(co_await fixture.write("r", "a.txt", "the agent's"), ApiError);
    EXPECT_EQ(fixture.text("a.txt"), "mine");
    EXPECT_THROW(co_await fixture.checkpoints.changes("r"), NotFound);
  });
}

TEST(Checkpoints, ARecordIsAnnouncedOnceItAndTheFormerContentAreOnDisk) {
  with_fixture([](CheckpointsFixture& fixture) -> Task<> {
    const auto announced = std::make_shared<std::atomic<int>>(0);
    fixture.on_recorded = [announced] { ++*announced; };
    co_await fixture.write("r", "a.txt", "one");
    EXPECT_EQ(*announced, 1) << "a new file has no former content";
    co_await fixture.checkpoints.changes("r");  // waits until the content is stored
    co_await fixture.write("r", "a.txt", "two");
    EXPECT_EQ(*announced, 2);
    fixture.edit("a.txt", "mine");
    co_await fixture.write("r", "a.txt", "three");
    EXPECT_EQ(*announced, 2) << "the person's content was stored at the same time";
    EXPECT_EQ(fixture.text("a.txt"), "three");
  });
}

TEST(Checkpoints, AnEditBetweenTheCopyAndTheRenameIsNotOverwritten) {
  with_fixture([](CheckpointsFixture& fixture) -> Task<> {
    fixture.edit("a.txt", "old");
    const WriteTarget file(fixture.project / "a.txt", fixture.roots);
    const auto before = file.state(1000);
    fixture.edit("a.txt", "a person's edit");
    const auto prepared = file.prepare(file.state_with("the agent's"));
    EXPECT_THROW(file.replace(*prepared, before.stamp), BadRequest);
    EXPECT_EQ(fixture.text("a.txt"), "a person's edit");
    co_return;
  });
}

TEST(Checkpoints, AWriteThatWasKilledBeforeItsRenameNeedsNoUndo) {
  with_fixture([](CheckpointsFixture& fixture) -> Task<> {
    fixture.edit("a.txt", "mine");
    fixture.killed_before_rename = true;
    co_await fixture.write("r", "a.txt", "never written");
    const auto undone = co_await fixture.undo("r");
    EXPECT_TRUE(undone.restored.empty());
    EXPECT_EQ(fixture.text("a.txt"), "mine");
  });
}

TEST(Checkpoints, AnUndoThatWasKilledBeforeItsRenameIsMadeByTheNext) {
  with_fixture([](CheckpointsFixture& fixture) -> Task<> {
    fixture.edit("a.txt", "mine");
    co_await fixture.write("r", "a.txt", "the agent's");
    co_await fixture.killed_undo("r");
    EXPECT_EQ((co_await fixture.undo("r")).restored.size(), 1u);
    EXPECT_EQ(fixture.text("a.txt"), "mine");
    EXPECT_EQ((co_await fixture.undo("r")).restored.size(), 1u);
    EXPECT_EQ(fixture.text("a.txt"), "the agent's");
  });
}

TEST(Checkpoints, WhatAKilledUndoLeftIsRemovedAtTheStartUnlessItIsAPersons) {
  with_fixture([](CheckpointsFixture& fixture) -> Task<> {
    fixture.edit("a.txt", "mine");
    co_await fixture.write("r", "a.txt", "the agent's");
    const auto left = co_await fixture.killed_undo("r");
    for (const std::string content : {"mi", "mine", "the agent's"}) {
      fixture.edit(left, content);
      co_await fixture.recover();
      EXPECT_FALSE(fixture.exists(left)) << content;
    }
    fixture.edit(left, "a person's");
    co_await fixture.recover();
    EXPECT_EQ(fixture.text(left), "a person's");
    fixture.edit(left, "mi");
    EXPECT_EQ((co_await fixture.undo("r")).restored.size(), 1u);
    EXPECT_FALSE(fixture.exists(left));
    EXPECT_EQ(fixture.text("a.txt"), "mine");
  });
}

TEST(Checkpoints, ShowTheChangesOfARunAsDiffs) {
  with_fixture([](CheckpointsFixture& fixture) -> Task<> {
    fixture.edit("a.txt", "one\ntwo\n");
    co_await fixture.write("r", "a.txt", "one\n2\n");
    co_await fixture.write("r", "b.txt", "new\n");
    fixture.edit("a.txt", "a person's\n");
    const auto changes = co_await fixture.checkpoints.changes("r");
    EXPECT_EQ(changes.changes.at(0).kind, FileChangeKind::changed);
    EXPECT_NE(changes.changes.at(0).diff.find("-two\n+2\n"), std::string::npos) << changes.changes.at(0).diff;
    EXPECT_EQ(changes.changes.at(1).kind, FileChangeKind::created);
    EXPECT_NE(changes.changes.at(1).diff.find("+new\n"), std::string::npos);
    EXPECT_THROW(co_await fixture.checkpoints.changes("unknown"), NotFound);
  });
}

using Content = std::optional<std::string>;  // of a file; no value: it does not exist

/// The test's own record of what a run did to the files, which determines what an undo may do.
struct RunModel {
  std::map<std::string, std::vector<std::pair<Content, Content>>> changes;  // before and after, in order
  bool is_simple = true;                                                    // it was neither undone nor killed

  void add(const std::string& name, const Content& before, const Content& after) {
    if (before != after) changes[name].emplace_back(before, after);
  }
  /// Whether the content is one that the run left or replaced.
  bool knows(const std::string& name, const Content& content) {
    return std::ranges::any_of(changes[name],
                               [&](const auto& one) { return one.first == content || one.second == content; });
  }
  /// Whether the file is as the run left it.
  bool left(const std::string& name, const Content& content) {
    const auto& own = changes[name];
    return !own.empty() && own.back().second == content && content != own.front().first;
  }
};

/// Writes and commands of agents, edits of a person, undo and redo, in random order on a few files. Everything that the
/// person wrote must either still be in its file, or have been replaced by a requested change and be in the store. An
/// undo without force replaces only content that its run left, and only by content that the run replaced.
Task<> interleave(CheckpointsFixture& fixture, unsigned seed, int steps) {
  std::mt19937 random(seed);
  const auto pick = [&](int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); };
  const std::array<std::string, 4> names{"a.txt", "b.txt", "d/c.txt", "d/e/f.txt"};
  std::map<std::string, Content> model;  // the expected content of each file
  BlobStore stored(fixture.scratch.path() / "checkpoints", std::uint64_t{1} << 30);
  std::map<std::string, bool> is_persons;
  std::vector<std::string> runs;
  std::map<std::string, RunModel> models;
  const auto on_disk = [&](const std::string& name) -> std::optional<std::string> {
    return fixture.exists(name) ? std::optional(fixture.text(name)) : std::nullopt;
  };
  for (int step = 0; step < steps; ++step) {
    const auto& name = names.at(static_cast<std::size_t>(pick(4)));
    std::map<std::string, std::optional<std::string>> before;
    for (const auto& each : names) before[each] = on_disk(each);
    const auto content = "content " + std::to_string(pick(1000)) + " of step " + std::to_string(step);
    const int action = pick(12);
    if (action < 3) {  // A run writes, sometimes for several steps, and sometimes is killed in between.
      if (runs.empty() || pick(2) == 0) runs.push_back("run-" + std::to_string(runs.size()));
      fixture.killed_before_rename = pick(8) == 0;
      co_await fixture.write(runs.back(), name, content);
      if (fixture.killed_before_rename) models[runs.back()].is_simple = false;
      models[runs.back()].add(name, before[name], content);
      if (!fixture.killed_before_rename) model[name] = content;
      if (is_persons[name] && before[name] && !fixture.killed_before_rename) {
        EXPECT_TRUE(fs::exists(fixture.scratch.path() / "checkpoints" / blob_name(*before[name])));
      }
      if (!fixture.killed_before_rename) is_persons[name] = false;
      fixture.killed_before_rename = false;
    } else if (action < 5) {  // A run has a command write or delete two files.
      if (runs.empty() || pick(2) == 0) runs.push_back("run-" + std::to_string(runs.size()));
      const auto& other = names.at(static_cast<std::size_t>(pick(4)));
      const bool deletes = pick(3) == 0;
      co_await fixture.command(runs.back(), [&] {
        fs::create_directories((fixture.project / name).parent_path());
        fixture.edit(name, content);
        if (deletes && other != name) fs::remove(fixture.project / other);
      });
      std::set<std::string> touched{name};
      if (deletes) touched.insert(other);
      for (const auto& each : touched) {
        model[each] = on_disk(each);
        models[runs.back()].add(each, before[each], model[each]);
        if (before[each] && is_persons[each]) {
          EXPECT_TRUE(fs::exists(fixture.scratch.path() / "checkpoints" / blob_name(*before[each])));
        }
        is_persons[each] = false;
      }
    } else if (action < 8) {  // A person edits or deletes.
      if (pick(4) == 0) {
        fs::remove(fixture.project / name);
        model[name].reset();
      } else {
        fs::create_directories((fixture.project / name).parent_path());
        fixture.edit(name, "person " + content);
        model[name] = "person " + content;
      }
      is_persons[name] = true;
    } else if (!runs.empty()) {
      const auto& run = runs.at(static_cast<std::size_t>(pick(static_cast<int>(runs.size()))));
      const bool force = pick(6) == 0;
      UndoFiles wanted{.force = force};
      if (pick(3) == 0) wanted.paths = std::vector<std::string>{name};
      const auto undone = co_await fixture.undo(run, wanted);
      auto& did = models[run];
      for (const auto& each : names) {
        const auto now = on_disk(each);
        const bool is_restored = contains(undone.restored, fixture.shown(each));
        const bool is_chosen = !wanted.paths || each == name;
        const bool must_be_restored = did.is_simple && is_chosen && did.left(each, before[each]);
        EXPECT_TRUE(is_restored || !must_be_restored) << "seed " << seed << ", step " << step << ": kept " << each;
        EXPECT_TRUE(!is_restored || force || did.knows(each, before[each])) << "seed " << seed << ": replaced " << each;
        EXPECT_TRUE(!is_restored || did.knows(each, now)) << "seed " << seed << ": nobody had this in " << each;
        if (!is_restored) {
          EXPECT_EQ(now, before[each]) << "an undo touched what it did not report: " << each;
          continue;
        }
        if (before[each]) {
          EXPECT_TRUE(fs::exists(fixture.scratch.path() / "checkpoints" / blob_name(*before[each])))
              << "lost: " << *before[each];
        }
        did.add(each, before[each], now);  // A redo restores what an undo with force replaced.
        model[each] = now;
        is_persons[each] = now && now->starts_with("person");
      }
      did.is_simple = false;
    }
    for (const auto& each : names) {
      EXPECT_EQ(on_disk(each), model[each]) << "seed " << seed << ", step " << step << ", " << each;
    }
    if (::testing::Test::HasFailure()) co_return;
  }
}

TEST(Checkpoints, NoByteThatTheAgentDidNotWriteIsEverLost) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    with_fixture([seed](CheckpointsFixture& fixture) { return interleave(fixture, seed, 100); },
                 std::chrono::seconds(120));
    if (HasFailure()) break;
  }
}

/// Without force, an undo never replaces a person's content, unless an undo has restored it.
TEST(Checkpoints, UndoWithoutForceNeverReplacesAnEdit) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    with_fixture(
        [seed](CheckpointsFixture& fixture) -> Task<> {
          std::mt19937 random(seed);
          for (int step = 0; step < 50; ++step) {
            const auto name = "f" + std::to_string(random() % 3);
            const auto run = "run-" + std::to_string(random() % 5);
            switch (random() % 3) {
              case 0:
                co_await fixture.write(run, name, "agent " + std::to_string(step));
                break;
              case 1: {
                const auto edit = "person " + std::to_string(step);
                fixture.edit(name, edit);
                for (int i = 0; i < 5; ++i) {
                  try {
                    co_await fixture.undo("run-" + std::to_string(i));
                  } catch (const NotFound&) {
                    continue;
                  }
                }
                EXPECT_EQ(fixture.text(name), edit);
                break;
              }
              default:
                try {
                  co_await fixture.undo(run);
                } catch (const NotFound&) {
                  continue;
                }
            }
          }
        },
        std::chrono::seconds(60));
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace agw
