#include "io/files/lock_file.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/json/json.hpp"
#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

/// Another process that runs an action and then waits to be ended.
class OtherProcess {
public:
  explicit OtherProcess(const std::function<void()>& action) {
    int done[2];
    if (::pipe(done) != 0) throw std::runtime_error("pipe");
    pid_ = ::fork();
    if (pid_ == 0) {
      action();
      if (::write(done[1], "x", 1) == 1) ::pause();
      ::_exit(1);
    }
    char byte = 0;
    EXPECT_EQ(::read(done[0], &byte, 1), 1);
    ::close(done[0]);
    ::close(done[1]);
  }
  ~OtherProcess() { kill(); }

  pid_t pid() const { return pid_; }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

private:
  pid_t pid_ = 0;
};

class LockFileTest : public ::testing::Test {
protected:
  std::string content() const {
    std::ostringstream text;
    text << std::ifstream(file_).rdbuf();
    return text.str();
  }

  /// The message of a start refused because of another gateway.
  std::string refusal() const {
    try {
      LockFile lock(directory());
    } catch (const StartError& error) {
      EXPECT_EQ(error.status(), ExitStatus::already_running);
      return error.what();
    }
    return "not refused";
  }

  const std::filesystem::path& directory() const { return scratch_.path(); }

  testing::ScratchDirectory scratch_;
  std::filesystem::path file_ = scratch_.path() / "gateway.lock";
};

TEST_F(LockFileTest, WaitsForAChildThatAKilledGatewayWasMaking) {
  constexpr int until_it_is_a_program = 100;
  OtherProcess other([&] {
    auto* lock = new LockFile(directory());
    lock->publish("http://127.0.0.1:1");
    if (::fork() == 0) {
      ::poll(nullptr, 0, until_it_is_a_program);
      ::_exit(0);
    }
  });
  other.kill();
  EXPECT_EQ(refusal(), "not refused");
}

TEST_F(LockFileTest, NamesItsHolderAsJson) {
  LockFile lock(directory());
  lock.publish("http://127.0.0.1:7420");
  const auto value = parse_json(content());
  ASSERT_TRUE(value);
  EXPECT_EQ(value->at("pid").as_int64(), ::getpid());
  EXPECT_EQ(value->at("url").as_string(), "http://127.0.0.1:7420");
  struct stat status{};
  ASSERT_EQ(::stat(file_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0600u);
}

TEST_F(LockFileTest, ASecondStartIsRefusedWithProcessAndAddress) {
  OtherProcess other([&] {
    static LockFile lock(directory());
    lock.publish("http://127.0.0.1:7420");
  });
  EXPECT_THAT(refusal(), ::testing::HasSubstr(fmt::format("process {}", other.pid())));
  EXPECT_THAT(refusal(), ::testing::HasSubstr("at http://127.0.0.1:7420"));
  EXPECT_THAT(refusal(), ::testing::HasSubstr(directory().string()));
}

TEST_F(LockFileTest, ASecondStartOfTheSameProcessIsRefusedToo) {
  LockFile lock(directory());
  EXPECT_THAT(refusal(), ::testing::HasSubstr("not answering yet"));
}

TEST_F(LockFileTest, AFileLeftByAKilledGatewayHoldsNothing) {
  OtherProcess other([&] {
    static LockFile lock(directory());
    lock.publish("http://127.0.0.1:1");
  });
  other.kill();
  EXPECT_THAT(content(), ::testing::HasSubstr("http://127.0.0.1:1"));
  EXPECT_FALSE(find_running_gateway(directory()));
  LockFile lock(directory());
  EXPECT_THAT(content(), ::testing::Not(::testing::HasSubstr("http://127.0.0.1:1")));
}

TEST_F(LockFileTest, IsEmptyAndFreeAfterAStop) {
  {
    LockFile lock(directory());
  }
  EXPECT_EQ(content(), "");
  LockFile again(directory());
}

TEST_F(LockFileTest, AnUnusableFileIsNamed) {
  std::filesystem::create_directory(file_);
  try {
    LockFile lock(directory());
    FAIL() << "was taken";
  } catch (const StartError& error) {
    EXPECT_EQ(error.status(), ExitStatus::usage);
    EXPECT_THAT(error.what(), ::testing::HasSubstr(file_.string()));
  }
}

TEST_F(LockFileTest, TheCommandLineFindsARunningGateway) {
  OtherProcess other([&] {
    static LockFile lock(directory());
    lock.publish("http://127.0.0.1:7420");
  });
  const auto found = find_running_gateway(directory());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->pid, other.pid());
  EXPECT_EQ(found->url, "http://127.0.0.1:7420");
  EXPECT_TRUE(find_running_gateway(directory())) << "looking takes nothing";
}

TEST_F(LockFileTest, TheCommandLineIgnoresAnUnlockedFile) {
  EXPECT_FALSE(find_running_gateway(directory()));
  std::ofstream(file_) << R"({"pid": 1, "url": "http://127.0.0.1:6666"})";
  EXPECT_FALSE(find_running_gateway(directory()));
}

TEST_F(LockFileTest, AGatewayThatStartsIsFoundWithoutAnAddress) {
  LockFile lock(directory());
  const auto found = find_running_gateway(directory());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->pid, ::getpid());
  EXPECT_EQ(found->url, "");
}

}  // namespace
}  // namespace agw
