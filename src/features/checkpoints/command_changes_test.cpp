#include "features/checkpoints/command_changes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "testing/bound_by_modes.hpp"
#include "testing/file_clock.hpp"
#include "testing/no_descriptors.hpp"
#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

namespace fs = std::filesystem;
using ::testing::_;
using ::testing::AnyOf;
using ::testing::Each;
using ::testing::Pair;
using ::testing::StartsWith;

/// A text for each change and each uncovered path.
std::vector<std::string> all_of(const CommandChanges& found) {
  const auto state = [](const StoredState& state) {
    return fmt::format("{} {:o} {}", static_cast<int>(state.kind), state.mode, state.hash.value_or("-"));
  };
  std::vector<std::string> lines;
  for (const auto& each : found.changes)
    lines.push_back(fmt::format("{}: {} -> {} {}", each.path, state(each.before), state(each.after), each.moved_from));
  for (const auto& each : found.uncovered) lines.push_back(each.path + ": " + each.reason);
  return lines;
}

class CommandChangesTest : public ::testing::Test {
protected:
  CommandChangesTest() { fs::create_directories(project_); }

  void put(const std::string& name, const std::string& text) const {
    fs::create_directories((project_ / name).parent_path());
    std::ofstream(project_ / name) << text;
  }
  void begin() {
    before_ = observer_.before(project_, roots_);
    began_ = testing::advance_file_clock();
  }
  /// A sign for each path that the command changed: `-` deleted, `+` created, `~` changed, `?` not covered.
  std::map<std::string, std::string> end() {
    Origins origins({before_}, began_);
    last_ = observer_.after(*before_, roots_, origins);
    std::map<std::string, std::string> found;
    for (const auto& change : last_.changes) {
      found[fs::path(change.path).lexically_relative(project_)] = change.before.kind == EntryKind::absent  ? "+"
                                                                  : change.after.kind == EntryKind::absent ? "-"
                                                                                                           : "~";
    }
    for (const auto& each : last_.uncovered) {
      found[fs::path(each.path).lexically_relative(project_)] = "? " + each.reason;
    }
    return found;
  }
  const StoredChange& change_of(const std::string& name) const {
    return *std::ranges::find(last_.changes, (project_ / name).string(), &StoredChange::path);
  }

  using Found = std::map<std::string, std::string>;
  testing::ScratchDirectory scratch_;
  fs::path project_ = scratch_.path() / "home/site";
  FileRoots roots_{.home = scratch_.path() / "home",
                   .data_directory = scratch_.path() / "home/.agent-gateway",
                   .agent = "helper",
                   .project = project_};
  std::shared_ptr<BlobStore> blobs_ = std::make_shared<BlobStore>(scratch_.path() / "checkpoints", 10'000'000);
  CommandObserver observer_{blobs_, {.file_bytes = 100'000, .entries = 500, .unchanged = std::chrono::nanoseconds(0)}};
  std::shared_ptr<const TreeListing> before_;
  std::int64_t began_ = 0;
  CommandChanges last_;
};

TEST_F(CommandChangesTest, FindTheChangesOfACommand) {
  put("a.txt", "a");
  put("b.txt", "b");
  put("gone/c.txt", "c");
  put("same.txt", "same");
  begin();
  put("a.txt", "changed");
  fs::remove(project_ / "b.txt");
  fs::remove_all(project_ / "gone");
  put("new/d.txt", "new");
  EXPECT_EQ(
      end(),
      (Found{{"a.txt", "~"}, {"b.txt", "-"}, {"gone", "-"}, {"gone/c.txt", "-"}, {"new", "+"}, {"new/d.txt", "+"}}));
  EXPECT_EQ(blobs_->get(*change_of("a.txt").before.hash), "a");
  EXPECT_EQ(blobs_->get(*change_of("gone/c.txt").before.hash), "c");
  EXPECT_EQ(blobs_->get(*change_of("new/d.txt").after.hash), "new");
}

TEST_F(CommandChangesTest, FindAChangeOfTheSameSizeAndTimeByItsStatusTime) {
  put("a.txt", "one");
  const auto time = fs::last_write_time(project_ / "a.txt");
  begin();
  put("a.txt", "two");
  fs::last_write_time(project_ / "a.txt", time);
  EXPECT_EQ(end(), (Found{{"a.txt", "~"}}));
}

TEST_F(CommandChangesTest, IncludeModesAndSymlinksButNotTimesAlone) {
  put("run.sh", "x");
  put("touched.txt", "x");
  fs::create_symlink("run.sh", project_ / "link");
  begin();
  ::chmod((project_ / "run.sh").c_str(), 0755);
  fs::last_write_time(project_ / "touched.txt", fs::file_time_type::clock::now());
  fs::remove(project_ / "link");
  fs::create_symlink("elsewhere", project_ / "link");
  EXPECT_EQ(end(), (Found{{"run.sh", "~"}, {"link", "~"}}));
  EXPECT_EQ(blobs_->get(*change_of("link").before.hash), "run.sh");
}

TEST_F(CommandChangesTest, OfAnotherPersonBetweenTwoCommandsAreNotThoseOfTheSecond) {
  put("a.txt", "one");
  begin();
  put("a.txt", "two");
  EXPECT_EQ(end(), (Found{{"a.txt", "~"}}));
  put("a.txt", "a person's");
  begin();
  EXPECT_EQ(end(), Found());
  begin();
  put("a.txt", "three");
  EXPECT_EQ(end(), (Found{{"a.txt", "~"}}));
  EXPECT_EQ(blobs_->get(*change_of("a.txt").before.hash), "a person's");
}

TEST_F(CommandChangesTest, SayWhatIsNotCovered) {
  put(".gitignore", "node_modules/\n*.log\n");
  put("node_modules/x/index.js", "x");
  put(".git/HEAD", "x");
  put("large.bin", std::string(200'000, 'x'));
  put("a.log", "x");
  begin();
  put("node_modules/x/index.js", "changed");
  put("large.bin", "small");
  put("a.log", "changed");
  EXPECT_EQ(end(), (Found{{".git", "? the data of a repository"},
                          {"node_modules", "? named in .gitignore"},
                          {"a.log", "? named in .gitignore"},
                          {"large.bin", "? larger than 0 MiB"}}));
}

TEST_F(CommandChangesTest, NeverKeepPrivateFilesUnderAnyName) {
  put("server.key", "a secret");
  put(".ssh/id_rsa", "a secret of SSH");
  fs::create_hard_link(project_ / "server.key", project_ / "innocent.txt");
  fs::create_directories(roots_.home / ".ssh");
  std::ofstream(roots_.home / ".ssh/id_ed25519") << "a secret of home";
  fs::create_hard_link(roots_.home / ".ssh/id_ed25519", project_ / "notes.txt");
  begin();
  for (const auto* secret : {"a secret of SSH", "a secret of home"}) {
    EXPECT_FALSE(blobs_->has(blob_name(secret))) << secret;
  }
  EXPECT_EQ(end(), Found());
}

TEST_F(CommandChangesTest, NeverFollowSymlinksOutOfTheProject) {
  fs::create_directories(roots_.home / "letters");
  std::ofstream(roots_.home / "letters/a.txt") << "a letter";
  fs::create_symlink(roots_.home / "letters", project_ / "link");
  begin();
  EXPECT_FALSE(blobs_->has(blob_name("a letter")));
  std::ofstream(roots_.home / "letters/a.txt") << "changed by a person";
  EXPECT_EQ(end(), Found());
}

TEST_F(CommandChangesTest, LeavePipesAndOddNamesAndSparseFilesAlone) {
  const std::string odd = "caf\xe9\xff.txt";
  put(odd, "odd");
  put("sparse", "x");
  fs::resize_file(project_ / "sparse", std::uintmax_t{1} << 40);
  ASSERT_EQ(::mkfifo((project_ / "pipe").c_str(), 0600), 0);
  begin();
  fs::remove(project_ / "pipe");
  put(odd, "changed");
  EXPECT_EQ(end(), (Found{{odd, "~"}, {"pipe", "? not a regular file"}}));
}

TEST_F(CommandChangesTest, LeaveSocketsAndDevicesAlone) {
  const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const auto path = (project_ / "socket").string();
  ASSERT_LT(path.size(), sizeof(address.sun_path));
  std::ranges::copy(path, std::begin(address.sun_path));
  ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  // A device like /dev/zero, whose content is endless. Only root can make it.
  const bool has_device = ::mknod((project_ / "device").c_str(), S_IFCHR | 0666, ::makedev(1, 5)) == 0;
  begin();
  fs::remove(project_ / "socket");
  fs::remove(project_ / "device");
  put("socket", "now a file");
  Found found{{"socket", "? not a regular file"}};
  if (has_device) found["device"] = "? not a regular file";
  EXPECT_EQ(end(), found);
  ::close(listener);
}

TEST_F(CommandChangesTest, OfFilesThatChangeDuringTheCopyAreWhatTheListingSaysOrNotCovered) {
  put("busy.log", "");
  const auto written = [](std::uintmax_t size) {
    std::string text;
    for (int line = 0; text.size() < size; ++line) text += std::to_string(line) + '\n';
    text.resize(size);
    return text;
  };
  std::atomic<bool> over = false;
  std::thread writer([&] {
    std::ofstream log(project_ / "busy.log", std::ios::app);
    for (int line = 0; !over; ++line) log << line << std::endl;
  });
  for (int i = 0; i < 30; ++i) {
    begin();
    for (const auto& [name, what] : end()) EXPECT_THAT(what, AnyOf("~", StartsWith("? "))) << name;
    for (const auto& change : last_.changes) {
      const auto kept = blobs_->get(*change.before.hash);
      EXPECT_EQ(kept, written(kept.value().size())) << "a beginning of it, as it was at some time";
    }
  }
  over = true;
  writer.join();
}

TEST_F(CommandChangesTest, OfAProjectWithVeryManyFilesAreNotCoveredAndThatIsFast) {
  for (int i = 0; i < 600; ++i) put("f" + std::to_string(i), "x");
  begin();
  put("f1", "changed");
  EXPECT_EQ(end(), (Found{{".", "? more than 500 files"}}));
  EXPECT_EQ(blobs_->usage().files, 0u);
}

constexpr auto moved_text = "? moved here from where nothing is kept: this may be the only copy";

TEST_F(CommandChangesTest, NameWhatWasMovedIn) {
  put(".gitignore", "cache/\n*.log\n");
  put("cache/thesis.txt", "months of work");
  put("cache/deep/more.txt", "more work");
  put("a.log", "a person's log");
  put("large.bin", std::string(200'000, 'x'));
  put("kept.txt", "kept");
  begin();
  fs::rename(project_ / "cache/thesis.txt", project_ / "thesis.txt");
  fs::rename(project_ / "cache/deep", project_ / "found");
  put("found/new.txt", "made by the command");
  fs::rename(project_ / "a.log", project_ / "kept.txt");
  fs::rename(project_ / "large.bin", project_ / "small.bin");
  fs::resize_file(project_ / "small.bin", 10);
  EXPECT_EQ(end(), (Found{{"cache", "? named in .gitignore"},
                          {"thesis.txt", moved_text},
                          {"found", moved_text},
                          {"found/new.txt", "+"},
                          {"a.log", "? named in .gitignore"},
                          {"kept.txt", moved_text},
                          {"large.bin", "? larger than 0 MiB"},
                          {"small.bin", moved_text}}));
  EXPECT_FALSE(blobs_->has(blob_name("months of work")));
  begin();
  EXPECT_TRUE(blobs_->has(blob_name("months of work"))) << "the next command could overwrite it";
}

TEST_F(CommandChangesTest, NameWhatWasCopiedWithItsTimeAndDeletedWhereNothingIsKept) {
  put(".gitignore", "*.log\n");
  put("a.log", "a person's log");
  begin();
  fs::copy_file(project_ / "a.log", project_ / "b.txt");
  fs::last_write_time(project_ / "b.txt", fs::last_write_time(project_ / "a.log"));
  fs::remove(project_ / "a.log");
  EXPECT_EQ(end(), (Found{{"a.log", "? named in .gitignore"}, {"b.txt", moved_text}}));
}

TEST_F(CommandChangesTest, NameWhatWasCopiedWithItsTimeFromAnIgnoredDirectoryAndDeletedThere) {
  put(".gitignore", "cache/\n");
  put("cache/deep/thesis.txt", "months of work");
  const auto time = fs::last_write_time(project_ / "cache/deep/thesis.txt");
  begin();
  fs::copy_file(project_ / "cache/deep/thesis.txt", project_ / "thesis.txt");
  fs::last_write_time(project_ / "thesis.txt", time);
  fs::remove(project_ / "cache/deep/thesis.txt");
  EXPECT_EQ(end(), (Found{{"cache", "? named in .gitignore"}, {"thesis.txt", moved_text}}));
}

TEST_F(CommandChangesTest, NameWhatWasCopiedWithItsTimeFromAnIgnoredDirectoryThatWasThenClosed) {
  put(".gitignore", "cache/\n");
  put("cache/thesis.txt", "months of work");
  const auto time = fs::last_write_time(project_ / "cache/thesis.txt");
  begin();
  fs::copy_file(project_ / "cache/thesis.txt", project_ / "thesis.txt");
  fs::last_write_time(project_ / "thesis.txt", time);
  fs::remove(project_ / "cache/thesis.txt");
  fs::permissions(project_ / "cache", fs::perms::none);
  {
    const testing::BoundByModes bound;
    EXPECT_EQ(end(), (Found{{"cache", "? named in .gitignore"}, {"thesis.txt", moved_text}}));
  }
  fs::permissions(project_ / "cache", fs::perms::owner_all);
}

TEST_F(CommandChangesTest, NeedNoRightToAnIgnoredDirectoryThatWasAlwaysClosed) {
  put(".gitignore", "cache/\n");
  put("cache/a.txt", "ignored");
  put("b.txt", "kept");
  fs::permissions(project_ / "cache", fs::perms::none);
  begin();
  put("unpacked.txt", "from an archive");
  fs::last_write_time(project_ / "unpacked.txt", fs::last_write_time(project_ / "b.txt") - std::chrono::hours(1));
  {
    const testing::BoundByModes bound;
    EXPECT_EQ(end(), (Found{{"cache", "? named in .gitignore"}, {"unpacked.txt", "+"}}));
  }
  fs::permissions(project_ / "cache", fs::perms::owner_all);
}

TEST_F(CommandChangesTest, SayThatADirectoryCouldNotBeRead) {
  put("closed/a.txt", "unseen");
  fs::permissions(project_ / "closed", fs::perms::none);
  {
    const testing::BoundByModes bound;
    begin();
    put("b.txt", "new");
    EXPECT_EQ(end(), (Found{{"closed", "? it could not be read"}, {"b.txt", "+"}}));
  }
  fs::permissions(project_ / "closed", fs::perms::owner_all);
}

TEST_F(CommandChangesTest, AreNoDeletionsInADirectoryThatTheCommandClosed) {
  put("closed/deep/a.txt", "a person's");
  put("b.txt", "b");
  begin();
  put("b.txt", "changed");
  fs::permissions(project_ / "closed", fs::perms::none);
  {
    const testing::BoundByModes bound;
    EXPECT_EQ(end(), (Found{{"closed", "? it could not be read"}, {"b.txt", "~"}}));
  }
  fs::permissions(project_ / "closed", fs::perms::owner_all);
}

TEST_F(CommandChangesTest, NeedDescriptorsToListTheTree) {
  begin();
  end();
  const testing::NoDescriptors none;
  EXPECT_THROW(begin(), std::system_error);
}

TEST_F(CommandChangesTest, IncludeFilesThatAreOlderThanTheCommandWhichMadeThem) {
  put(".gitignore", "cache/\n");
  put("cache/a.txt", "ignored");
  put("b.txt", "kept");
  begin();
  put("unpacked.txt", "from an archive");
  fs::last_write_time(project_ / "unpacked.txt", fs::last_write_time(project_ / "b.txt") - std::chrono::hours(1));
  EXPECT_EQ(end(), (Found{{"cache", "? named in .gitignore"}, {"unpacked.txt", "+"}}));
}

TEST_F(CommandChangesTest, AreNoneWhereAGitignoreNamedEverythingUntilTheCommandChangedIt) {
  put(".gitignore", "build/\n*.log\n");
  put("build/x", "a person's");
  put("a.log", "a person's");
  begin();
  put(".gitignore", "# nothing\n");
  put("build/new", "new");
  EXPECT_EQ(end(), (Found{{".gitignore", "~"}, {"build", "? named in .gitignore"}}));
  begin();
  put("build/x", "changed");
  put("a.log", "changed");
  EXPECT_EQ(end(), (Found{{"build/x", "~"}, {"a.log", "~"}}));
  EXPECT_EQ(blobs_->get(*change_of("a.log").before.hash), "a person's");
}

TEST_F(CommandChangesTest, AreCoveredAlthoughTheCommandAddsThemToGitignore) {
  put("build/x", "a person's");
  put("build/same", "a person's");
  put("a.log", "a person's");
  begin();
  put(".gitignore", "build/\n*.log\n");
  put("build/x", "changed");
  put("a.log", "changed");
  EXPECT_EQ(end(), (Found{{".gitignore", "+"}, {"build/x", "~"}, {"a.log", "~"}}));
}

TEST_F(CommandChangesTest, KnowWhereAMovedFileWas) {
  put("src/a.txt", "kept");
  begin();
  fs::rename(project_ / "src", project_ / "lib");
  EXPECT_EQ(end(), (Found{{"src", "-"}, {"src/a.txt", "-"}, {"lib", "+"}, {"lib/a.txt", "+"}}));
  const auto moved = std::ranges::find(last_.changes, (project_ / "lib/a.txt").string(), &StoredChange::path);
  EXPECT_EQ(moved->moved_from, (project_ / "src/a.txt").string());
}

TEST_F(CommandChangesTest, OfAPersonBetweenTheListingAndTheCommandAreNamed) {
  put("a.txt", "one");
  before_ = observer_.before(project_, roots_);
  put("a.txt", "a person's");
  began_ = testing::advance_file_clock();
  EXPECT_EQ(end(), (Found{{"a.txt", "? changed by somebody else just before the command"}}));
  EXPECT_EQ(blobs_->get(*change_of("a.txt").before.hash), "one") << "so that it can be undone with force";
}

TEST_F(CommandChangesTest, LeaveWhatLiesTooDeepAlone) {
  auto path = std::string("a");
  for (int i = 0; i < 201; ++i) path += "/a";
  fs::create_directories(project_ / path);
  begin();
  EXPECT_THAT(end(), Each(Pair(_, StartsWith("?"))));
}

/// Makes a random change in a tree.
void change_something(const fs::path& root, std::mt19937& random) {
  const auto any_of = [&](auto... names) {
    const std::array<std::string, sizeof...(names)> all{names...};
    return all.at(random() % all.size());
  };
  const auto directory = root / any_of("", "a", "a/b", "c", ".git");
  const auto path = directory / any_of("one", "two", "b", ".gitignore", "server.key", "link");
  std::error_code ignored;
  switch (random() % 6) {
    case 0:
      fs::remove_all(path, ignored);
      break;
    case 1:
      fs::create_directories(path, ignored);
      break;
    case 2:
      fs::rename(path, root / any_of("one", "c", "a/b", "a/two"), ignored);
      break;
    case 3:
      fs::create_symlink(any_of("one", "nowhere"), path, ignored);
      break;
    default:
      fs::create_directories(directory, ignored);
      std::ofstream(path) << any_of("one", "two\n", "b/\n!two\n", "*\n") << random();
  }
}

TEST_F(CommandChangesTest, AreThoseThatAreFoundWithoutAnythingKnownOfTheDirectories) {
  CommandObserver forgetful(std::make_shared<BlobStore>(scratch_.path() / "others", 10'000'000),
                            {.file_bytes = 100'000, .entries = 500, .unchanged = std::chrono::hours(1)});
  std::mt19937 random(31);
  for (int round = 0; round < 150; ++round) {
    for (auto i = random() % 3; i > 0; --i) change_something(project_, random);
    begin();
    const auto before = forgetful.before(project_, roots_);
    testing::advance_file_clock();
    for (auto i = random() % 4; i > 0; --i) change_something(project_, random);
    end();
    Origins origins({before}, began_);
    const auto all = forgetful.after(*before, roots_, origins);
    ASSERT_EQ(all_of(last_), all_of(all)) << round;
  }
}

TEST_F(CommandChangesTest, NeedRoomForCopies) {
  blobs_ = std::make_shared<BlobStore>(scratch_.path() / "small", 1'000);
  CommandObserver observer(blobs_, {.file_bytes = 100'000, .entries = 500});
  put("a.txt", std::string(5'000, 'x'));
  const BlobStore::Use use(*blobs_);
  const auto before = observer.before(project_, roots_);
  Origins origins({before}, file_clock_now());
  put("a.txt", "changed");
  const auto found = observer.after(*before, roots_, origins);
  EXPECT_TRUE(found.changes.empty());
  EXPECT_EQ(found.uncovered.at(0).reason, "there was no room for a copy: see checkpoints.total_mib");
}

}  // namespace
}  // namespace agw
