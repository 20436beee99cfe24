#include "features/access/token.hpp"

#include <sys/stat.h>

#include <fstream>
#include <future>
#include <sstream>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

class TokenTest : public ::testing::Test {
protected:
  void write(const std::string& text, unsigned mode = 0600) {
    std::ofstream(file_) << text;
    ASSERT_EQ(::chmod(file_.c_str(), mode), 0);
  }

  std::string content() const {
    std::ostringstream text;
    text << std::ifstream(file_).rdbuf();
    return text.str();
  }

  std::string error() const {
    try {
      Token::load_or_create(directory_.path());
    } catch (const StartError& error) {
      EXPECT_EQ(error.status(), ExitStatus::usage);
      return error.what();
    }
    return "no error";
  }

  testing::ScratchDirectory directory_;
  std::filesystem::path file_ = directory_.path() / ".gateway-token";
};

TEST_F(TokenTest, IsMadeOnceForItsOwnerAlone) {
  const auto token = Token::load_or_create(directory_.path());
  EXPECT_THAT(token.secret(), ::testing::MatchesRegex("[0-9a-f]+"));
  EXPECT_EQ(token.secret().size(), 64u);
  EXPECT_EQ(content(), token.secret());
  struct stat status{};
  ASSERT_EQ(::stat(file_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777u, 0600u);
  EXPECT_EQ(Token::load_or_create(directory_.path()).secret(), token.secret());
}

TEST_F(TokenTest, IsTheSameForAllThatMakeItAtTheSameTime) {
  for (int round = 0; round < 20; ++round) {
    std::filesystem::remove(file_);
    std::vector<std::future<std::string>> starts;
    for (int i = 0; i < 4; ++i) {
      starts.push_back(
          std::async(std::launch::async, [this] { return Token::load_or_create(directory_.path()).secret(); }));
    }
    for (auto& start : starts) EXPECT_EQ(start.get(), content());
  }
}

TEST_F(TokenTest, TwoAreNeverTheSame) {
  const auto first = Token::load_or_create(directory_.path()).secret();
  std::filesystem::remove(file_);
  EXPECT_NE(Token::load_or_create(directory_.path()).secret(), first);
}

TEST_F(TokenTest, LoadMakesNone) {
  EXPECT_FALSE(Token::load(directory_.path()));
  EXPECT_FALSE(std::filesystem::exists(file_));
}

TEST_F(TokenTest, CanBeReplacedByAnother) {
  const auto first = Token::load_or_create(directory_.path());
  const auto second = Token::replace(directory_.path());
  EXPECT_FALSE(second.matches(first.secret()));
  EXPECT_EQ(Token::load(directory_.path())->secret(), second.secret());
}

TEST_F(TokenTest, MatchesItselfOnly) {
  const auto token = Token::load_or_create(directory_.path());
  const auto& secret = token.secret();
  EXPECT_TRUE(token.matches(secret));
  EXPECT_FALSE(token.matches(""));
  EXPECT_FALSE(token.matches(secret.substr(1)));
  EXPECT_FALSE(token.matches(secret + "0"));
  EXPECT_FALSE(token.matches(std::string(64, 'x')));
  auto other = secret;
  other.back() = other.back() == '0' ? '1' : '0';
  EXPECT_FALSE(token.matches(other));
}

TEST_F(TokenTest, ANewlineAtTheEndIsNoPartOfIt) {
  write(std::string(64, 'a') + "\n");
  EXPECT_TRUE(Token::load_or_create(directory_.path()).matches(std::string(64, 'a')));
}

TEST_F(TokenTest, OneThatOthersCanAccessIsRefusedWithTheCommandThatFixesIt) {
  for (const unsigned mode : {0640u, 0604u, 0601u}) {
    write(std::string(64, 'a'), mode);
    EXPECT_THAT(error(), ::testing::HasSubstr("run chmod 600 '" + file_.string() + "'"));
  }
}

TEST_F(TokenTest, AnInvalidTokenIsReportedWithoutShowingIt) {
  write("");
  EXPECT_THAT(error(), ::testing::HasSubstr("is empty"));
  write("abc");
  EXPECT_THAT(error(), ::testing::HasSubstr("holds 3 characters, it must be 64 hex digits"));
  write(std::string(65, 'a'));
  EXPECT_THAT(error(), ::testing::HasSubstr("is longer than 64 characters"));
  // The message also contains the name of the temporary directory, which never has this character.
  write(std::string(64, '!'));
  EXPECT_THAT(error(), ::testing::HasSubstr("characters that are no hex digits"));
  EXPECT_THAT(error(), ::testing::Not(::testing::HasSubstr("!")));
}

TEST_F(TokenTest, ALinkOrADirectoryIsRefused) {
  std::filesystem::create_symlink("/etc/passwd", file_);
  EXPECT_THAT(error(), ::testing::HasSubstr(file_.string()));
  std::filesystem::remove(file_);
  std::filesystem::create_directory(file_);
  EXPECT_THAT(error(), ::testing::HasSubstr("is no regular file"));
}

}  // namespace
}  // namespace agw
