#include "io/files/atomic_file.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <future>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

class AtomicFileTest : public ::testing::Test {
protected:
  std::string content() const {
    std::ostringstream text;
    text << std::ifstream(file_).rdbuf();
    return text.str();
  }

  std::size_t files() const {
    const std::filesystem::directory_iterator first(scratch_.path());
    return static_cast<std::size_t>(std::distance(first, {}));
  }

  unsigned mode() const {
    struct stat status{};
    EXPECT_EQ(::stat(file_.c_str(), &status), 0);
    return status.st_mode & 07777u;
  }

  testing::ScratchDirectory scratch_;
  std::filesystem::path file_ = scratch_.path() / "file";
};

TEST_F(AtomicFileTest, MakesAndReplacesAFileWithItsMode) {
  const auto umask = ::umask(077);
  replace_file(file_, "one", 0644);
  ::umask(umask);
  EXPECT_EQ(content(), "one");
  EXPECT_EQ(mode(), 0644u);
  replace_file(file_, "", 0600);
  EXPECT_EQ(content(), "");
  EXPECT_EQ(mode(), 0600u);
  EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFileTest, ASymlinkIsReplacedAndItsTargetKept) {
  std::ofstream(scratch_.path() / "target") << "kept";
  std::filesystem::create_symlink("target", file_);
  replace_file(file_, "new", 0600);
  EXPECT_FALSE(std::filesystem::is_symlink(file_));
  file_ = scratch_.path() / "target";
  EXPECT_EQ(content(), "kept");
}

TEST_F(AtomicFileTest, AFailureNamesThePathAndItsCause) {
  try {
    replace_file(scratch_.path() / "missing" / "file", "x", 0600);
    FAIL() << "was written";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::no_such_file_or_directory);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("missing/file"));
  }
}

TEST_F(AtomicFileTest, AWriteThatRunsOutOfSpaceLeavesTheOldFileAndNothingElse) {
  replace_file(file_, "old", 0600);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{.rlim_cur = 1000, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_THROW(replace_file(file_, std::string(5000, 'x'), 0600), std::system_error);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, SIG_DFL);
  EXPECT_EQ(content(), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFileTest, AKillAtAnyPointLeavesACompleteFile) {
  const std::string one(200'000, '1');
  const std::string two(300'000, '2');
  for (int round = 0; round < 10; ++round) {
    int written[2];
    ASSERT_EQ(::pipe(written), 0);
    const auto child = ::fork();
    if (child == 0) {
      for (;;) {
        replace_file(file_, one, 0600);
        if (::write(written[1], "x", 1) != 1) ::_exit(1);
        replace_file(file_, two, 0600);
      }
    }
    char byte = 0;
    for (int times = 0; times <= round; ++times) ASSERT_EQ(::read(written[0], &byte, 1), 1);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(written[0]);
    ::close(written[1]);
    const auto found = content();
    ASSERT_TRUE(found == one || found == two) << "round " << round << ": " << found.size() << " bytes";
  }
}

TEST_F(AtomicFileTest, OfSeveralThatCreateAFileOneSucceeds) {
  std::vector<std::future<bool>> creations;
  for (int i = 0; i < 8; ++i) {
    creations.push_back(
        std::async(std::launch::async, [this, i] { return create_file(file_, std::to_string(i), 0600); }));
  }
  std::string created;
  for (int i = 0; i < 8; ++i) {
    if (creations[static_cast<std::size_t>(i)].get()) created += std::to_string(i);
  }
  EXPECT_EQ(content(), created);
  EXPECT_EQ(created.size(), 1u);
  EXPECT_EQ(mode(), 0600u);
  EXPECT_EQ(files(), 1u);
  EXPECT_FALSE(create_file(file_, "another", 0600));
  EXPECT_EQ(content(), created);
}

TEST_F(AtomicFileTest, UnfinishedFilesHaveRecognizableNames) {
  EXPECT_TRUE(is_temporary_name(".agw-0123456789abcdef.tmp"));
  EXPECT_TRUE(is_temporary_name(temporary_name_of("run 1")));
  EXPECT_EQ(temporary_name_of("run 1"), temporary_name_of("run 1"));
  EXPECT_NE(temporary_name_of("run 1"), temporary_name_of("run 2"));
  EXPECT_FALSE(is_temporary_name("notes.tmp"));
  EXPECT_FALSE(is_temporary_name(".agw-notes"));
}

}  // namespace
}  // namespace agw
