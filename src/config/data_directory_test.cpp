#include "config/data_directory.hpp"

#include <sys/stat.h>

#include <fstream>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

namespace fs = std::filesystem;

class DataDirectoryTest : public ::testing::Test {
protected:
  DataDirectoryTest() { fs::create_directory(home_); }

  DataDirectory find(const std::optional<std::string>& flag = std::nullopt) {
    return find_data_directory(flag, [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables_.find(name);
      return found == variables_.end() ? std::nullopt : std::optional(found->second);
    });
  }

  template <class Function>
  static std::string error_of(Function function) {
    try {
      function();
    } catch (const StartError& error) {
      EXPECT_EQ(error.status(), ExitStatus::usage);
      return error.what();
    }
    return "no error";
  }

  static unsigned mode(const fs::path& path) {
    struct stat status{};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_mode & 07777u;
  }

  testing::ScratchDirectory scratch_;
  fs::path home_ = scratch_.path() / "home";
  std::map<std::string, std::string> variables_{{"HOME", home_.string()}};
};

TEST_F(DataDirectoryTest, TheFlagPrecedesTheVariableAndHome) {
  EXPECT_EQ(find().path, home_ / ".agent-gateway");
  variables_["AGENT_GATEWAY_DATA_DIR"] = (home_ / "variable").string();
  EXPECT_EQ(find().path, home_ / "variable");
  EXPECT_EQ(find((home_ / "flag/").string()).path, home_ / "flag");
}

TEST_F(DataDirectoryTest, ARelativeOneStartsAtTheWorkingDirectory) {
  EXPECT_EQ(find("data").path, fs::canonical(fs::current_path()) / "data");
}

TEST_F(DataDirectoryTest, HomeIsResolvedThroughSymlinks) {
  fs::create_directory_symlink(home_, scratch_.path() / "link");
  variables_["HOME"] = (scratch_.path() / "link").string();
  EXPECT_EQ(find().home, home_);
  EXPECT_EQ(prepare_data_directory(find()), "");
}

TEST_F(DataDirectoryTest, AMissingHomeIsAClearError) {
  variables_["HOME"] = (scratch_.path() / "gone").string();
  EXPECT_THAT(error_of([&] { find(); }), ::testing::HasSubstr("gone, which is not a directory"));
  variables_.clear();
  EXPECT_THAT(error_of([&] { find(); }), ::testing::StartsWith("HOME is not set"));
}

TEST_F(DataDirectoryTest, IsMadeForItsOwnerAlone) {
  const auto directory = find((home_ / "a/b").string());
  EXPECT_EQ(prepare_data_directory(directory), "");
  EXPECT_EQ(mode(directory.path), 0700u);
  EXPECT_EQ(mode(home_ / "a"), 0700u);
  EXPECT_EQ(prepare_data_directory(directory), "") << "again";
}

TEST_F(DataDirectoryTest, OneThatOthersCanAccessIsRefusedWithTheCommandThatFixesIt) {
  const auto directory = find();
  fs::create_directory(directory.path);
  for (const unsigned bits : {0710u, 0701u, 0740u, 0755u}) {
    ASSERT_EQ(::chmod(directory.path.c_str(), bits), 0);
    EXPECT_THAT(error_of([&] { prepare_data_directory(directory); }),
                ::testing::HasSubstr("run chmod 700 '" + directory.path.string() + "'"));
  }
}

TEST_F(DataDirectoryTest, OneOutsideHomeIsAcceptedWithAWarning) {
  const auto directory = find((scratch_.path() / "home-not").string());
  EXPECT_THAT(prepare_data_directory(directory), ::testing::HasSubstr("lies outside your home directory"));
}

TEST_F(DataDirectoryTest, OneThatCannotBeMadeIsNamed) {
  std::ofstream(home_ / "file") << "x";
  EXPECT_THAT(error_of([&] { prepare_data_directory(find((home_ / "file").string())); }),
              ::testing::EndsWith("is no directory"));
  EXPECT_THAT(error_of([&] { prepare_data_directory(find((home_ / "file/below").string())); }),
              ::testing::HasSubstr("file/below"));
}

}  // namespace
}  // namespace agw
