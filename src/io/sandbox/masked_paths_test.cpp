#include "io/sandbox/masked_paths.hpp"

#include <fcntl.h>
#include <sys/resource.h>

#include <fstream>
#include <system_error>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/files/descriptor.hpp"
#include "io/sandbox/private_files.hpp"
#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::UnorderedElementsAre;

class MaskedPathsTest : public ::testing::Test {
protected:
  void write(const fs::path& path) {
    fs::create_directories((project_ / path).parent_path());
    std::ofstream(project_ / path) << "text";
  }

  void link(const fs::path& path, const fs::path& target) {
    fs::create_directories((project_ / path).parent_path());
    fs::create_symlink(target, project_ / path);
  }

  MaskedPaths found() const { return masked_paths(project_, data_, {}); }

  testing::ScratchDirectory scratch_;
  fs::path project_ = scratch_.path() / "project";
  fs::path data_ = project_ / "data";
};

TEST_F(MaskedPathsTest, GuardedAreTheTargetsOfSymlinksInGuardedPlaces) {
  write("lib/.git/HEAD");
  write("scripts/hooks/update");
  write("scripts/config");
  write("assistant/skills/x/SKILL.md");
  link("lib/.git/hooks", "../../scripts/hooks");
  link("lib/.git/config", "../../scripts/config");
  link(".agents", "assistant");
  const auto places = found();
  EXPECT_THAT(places.guarded,
              IsSupersetOf({project_ / "scripts/hooks", project_ / "scripts/config", project_ / "assistant"}));
  EXPECT_THAT(places.ancestors, Contains(project_ / "scripts")) << "it cannot be moved away";
}

TEST_F(MaskedPathsTest, GuardedAreTheTargetsInAWorkspaceOfTheDataDirectory) {
  write("data/workspace/scripts/update");
  link("data/workspace/lib/.git/hooks/update", "../../../scripts/update");
  const auto workspace = data_ / "workspace";
  EXPECT_THAT(masked_paths(workspace, data_, {}).guarded, Contains(workspace / "scripts/update"));
}

TEST_F(MaskedPathsTest, GuardedAreTheTargetsOfSymlinksInATarget) {
  write("tools/deep/lint.sh");
  link("lib/.git/hooks", "../../scripts");
  link("scripts/deep/pre-commit", "../../tools/deep/lint.sh");
  link("scripts/again", "../scripts");
  EXPECT_THAT(found().guarded,
              UnorderedElementsAre(project_ / "lib/.git", project_ / "scripts", project_ / "tools/deep/lint.sh"));
}

TEST_F(MaskedPathsTest, GuardedAreTheOtherNamesOfGuardedFiles) {
  write("scripts/update");
  write("other/update");
  fs::create_directories(project_ / "lib/.git/hooks");
  fs::create_hard_link(project_ / "scripts/update", project_ / "lib/.git/hooks/update");
  EXPECT_THAT(found().guarded, IsSupersetOf({project_ / "lib/.git/hooks", project_ / "scripts/update"}));
  EXPECT_THAT(found().guarded, ::testing::Not(Contains(project_ / "other/update")));
}

TEST_F(MaskedPathsTest, GuardedIsAFileGitInARepositoryOfAnotherName) {
  for (const auto* name : {"HEAD", "objects/x", "refs/x", ".git"}) write(fs::path("site.git") / name);
  EXPECT_THAT(found().guarded, UnorderedElementsAre(project_ / "site.git/.git"));
}

TEST_F(MaskedPathsTest, GuardedIsWhereASymlinkStandsForAGuardedPlace) {
  link("a/.git/hooks", "../../scripts");
  link("b/.git", "../store");
  link("c/d/.agents", "nowhere");
  EXPECT_THAT(found().guarded, UnorderedElementsAre(project_ / "a/.git", project_ / "b", project_ / "c/d"));
}

TEST_F(MaskedPathsTest, GuardedAreTheTargetsOfSymlinksWithinGuardedPlaces) {
  write("scripts/pre-commit");
  write("lib/otter/SKILL.md");
  link(".git/hooks/pre-commit", "../../scripts/pre-commit");
  link(".agents/skills/otter", "../../lib/otter");
  EXPECT_THAT(found().guarded, UnorderedElementsAre(project_ / ".git/hooks", project_ / "scripts/pre-commit",
                                                    project_ / ".agents", project_ / "lib/otter"));
}

TEST_F(MaskedPathsTest, GuardedAreTheSymlinksOnTheWayToATarget) {
  write("lib/real/update");
  link("scripts/update", "../now/update");
  link("now", "lib/real");
  link(".git/hooks/update", "../../scripts/update");
  const auto places = found();
  EXPECT_THAT(places.guarded,
              UnorderedElementsAre(project_ / ".git/hooks", project_ / "scripts", project_ / "lib/real/update"));
  EXPECT_THAT(places.passed, UnorderedElementsAre(project_ / "now"));
}

TEST_F(MaskedPathsTest, WhereATargetIsMissingItIsGuardedOnceItIsThere) {
  write("scripts/old/update");
  link(".git/hooks/update", "../../scripts/old/pre-update");
  link(".git/hooks/pre-push", "../../scripts/new/pre-push");
  link(".git/hooks/loop", "loop");
  link(".git/hooks/elsewhere", "/nowhere/else");
  const auto places = found();
  EXPECT_THAT(places.missing, UnorderedElementsAre(project_ / "scripts/old/pre-update"));
  EXPECT_THAT(places.missing_parents, UnorderedElementsAre(project_ / "scripts/new"));
  EXPECT_THAT(places.ancestors, Contains(project_ / "scripts/old")) << "it cannot be moved away";
}

TEST_F(MaskedPathsTest, ARepositoryIsOneWhateverItIsCalled) {
  for (const auto* name :
       {"HEAD", "config", "hooks/update", "objects/x", "refs/heads/config", "worktrees/main/commondir"})
    write(fs::path("store/site") / name);
  write(".git");
  const auto places = found();
  EXPECT_THAT(places.repositories, UnorderedElementsAre(project_ / "store/site"));
  EXPECT_THAT(places.guarded,
              UnorderedElementsAre(project_ / ".git", project_ / "store/site/config", project_ / "store/site/hooks",
                                   project_ / "store/site/worktrees/main/commondir"));
  EXPECT_THAT(places.ancestors, Contains(project_ / "store/site/worktrees/main")) << "it cannot be moved away";
}

TEST_F(MaskedPathsTest, ASubmodulesRepositoryIsOne) {
  for (const auto* name : {"HEAD", "config", "objects/x", "refs/heads/main"}) {
    write(fs::path(".git") / name);
    write(fs::path(".git/modules/lib") / name);
  }
  EXPECT_THAT(found().repositories, UnorderedElementsAre(project_ / ".git", project_ / ".git/modules/lib"));
}

TEST_F(MaskedPathsTest, ADirectoryToLookThroughCanBeARepository) {
  for (const auto* name : {"HEAD", "config", "objects/x", "refs/heads/main", "checkout/src/config"}) write(name);
  const auto places = found();
  EXPECT_THAT(places.repositories, UnorderedElementsAre(project_));
  EXPECT_THAT(places.guarded, UnorderedElementsAre(project_ / "config"));
  EXPECT_THAT(places.ancestors, IsEmpty());
}

TEST_F(MaskedPathsTest, ARepositoryCanLieInAnother) {
  for (const auto* name : {"HEAD", "config", "objects/x", "refs/heads/main"}) {
    write(name);
    write(fs::path("site") / name);
  }
  const auto places = found();
  EXPECT_THAT(places.repositories, UnorderedElementsAre(project_, project_ / "site"));
  EXPECT_THAT(places.guarded, UnorderedElementsAre(project_ / "config", project_ / "site/config"));
}

TEST_F(MaskedPathsTest, SymlinksInGuardedPlacesShowNothingThatIsPrivateOrElsewhere) {
  write(".aws/deep/credentials");
  write("data/agents/x");
  fs::create_directory(scratch_.path() / "elsewhere");
  link(".git/hooks/a", "../../.aws/deep");
  link(".git/hooks/b", "../../data/agents");
  link(".git/hooks/c", scratch_.path() / "elsewhere");
  link(".git/hooks/d", "../..");
  link(".git/hooks/e", "nowhere");
  EXPECT_THAT(found().guarded, UnorderedElementsAre(project_ / ".git/hooks"));
}

TEST_F(MaskedPathsTest, NothingIsShownIfADirectoryCannotBeOpenedForNow) {
#if __has_feature(undefined_behavior_sanitizer)
  GTEST_SKIP() << "UBSan needs descriptors to check an object";
#endif
  write("a/b/c/d/id_rsa");
  EXPECT_THAT(found().private_files, UnorderedElementsAre(project_ / "a/b/c/d/id_rsa"));
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const auto first_free = Descriptor(::open("/", O_RDONLY | O_CLOEXEC)).get();
  const rlimit few{static_cast<rlim_t>(first_free) + 4, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  EXPECT_THROW(found(), std::system_error);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
}

TEST(PrivateNames, AreThoseOfKeysAndOfCopiesOfTheDataDirectory) {
  for (const char* name : {".ssh", ".password-store", "key.pem", ".key", "id_rsa", "id_ed25519.old",
                           "data.before-restore-2026", "data.restore-0123abcd"}) {
    EXPECT_TRUE(is_private_name("project", name)) << name;
  }
  for (const char* name : {"", "ssh", ".sshd", "pem", "id_rs", "index.html", "gcloud", "data.before-restore-x",
                           "data.restore-0123abc", "data-restore-0123abcd"}) {
    EXPECT_FALSE(is_private_name("project", name)) << name;
  }
  EXPECT_TRUE(is_private_name(".config", "gcloud"));
}

}  // namespace
}  // namespace agw
