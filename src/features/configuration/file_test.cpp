#include "features/configuration/file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/error.hpp"
#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class ConfigurationFile : public ::testing::Test {
protected:
  void write(const std::string& text) const { std::ofstream(file_) << text; }

  std::string read() const {
    std::ostringstream text;
    text << std::ifstream(file_).rdbuf();
    return text.str();
  }

  void set_days(const std::string& days) const {
    edit_configuration(sources_, {{"retention.days", ConfigNode{.form = ConfigNode::Form::number, .text = days}}});
  }

  /// Why the days cannot be changed. The file stays as it is.
  std::string refusal() const {
    const auto before = read();
    try {
      set_days("30");
    } catch (const Conflict& error) {
      EXPECT_EQ(read(), before);
      return error.error();
    }
    return "none";
  }

  testing::ScratchDirectory scratch_;
  std::filesystem::path file_ = scratch_.path() / "config.yaml";
  SettingsSources sources_{.environment = [](const std::string&) { return std::nullopt; }, .file = file_};
};

TEST_F(ConfigurationFile, IsChangedInPlace) {
  write("# mine\nretention: # why\n  days: 90\nport: 1 # low\n");
  ::chmod(file_.c_str(), 0640);
  set_days("30");
  EXPECT_EQ(read(), "# mine\nretention: # why\n  days: 30\nport: 1 # low\n");
  struct stat status{};
  ::stat(file_.c_str(), &status);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
  EXPECT_EQ(next_settings(sources_).settings.retention.days, 30);
}

TEST_F(ConfigurationFile, IsCreatedIfSomebodyHasRemovedIt) {
  set_days("30");
  EXPECT_EQ(read(), "retention:\n  days: 30\n");
}

TEST_F(ConfigurationFile, StaysIfOthersOwnOrShareIt) {
  write("port: 1\n");
  std::filesystem::rename(file_, scratch_.path() / "elsewhere.yaml");
  std::filesystem::create_symlink("elsewhere.yaml", file_);
  EXPECT_THAT(refusal(), StartsWith("cannot be changed here: the file is a symbolic link; edit " + file_.string()));
  std::filesystem::remove(file_);
  std::filesystem::create_hard_link(scratch_.path() / "elsewhere.yaml", file_);
  EXPECT_THAT(refusal(), HasSubstr("hard links"));
}

TEST_F(ConfigurationFile, StaysIfItIsReadOnly) {
  write("port: 1\n");
  ::chmod(file_.c_str(), 0444);
  EXPECT_THAT(refusal(), HasSubstr("read-only"));
}

TEST_F(ConfigurationFile, StaysIfItCannotBeEditedSafely) {
  write("port: 1\nretention: {days: 90}\n");
  EXPECT_THAT(refusal(), HasSubstr("edit " + file_.string() + ":2 instead"));
}

TEST_F(ConfigurationFile, StaysIfTheGatewayCouldNotStartWithIt) {
  write("port: 1\nports: 2\n");
  EXPECT_EQ(refusal(), "fix config.yaml first: " + file_.string() + ":2: ports: unknown key; did you mean port?");
  EXPECT_THAT(next_settings(sources_).problem.value_or(""), StartsWith(file_.string() + ":2: ports: unknown key"));
}

TEST_F(ConfigurationFile, IsNotQuotedIfItIsNotUtf8) {
  write("port: 1\ncaf\xe9: 2\n");
  EXPECT_EQ(next_settings(sources_).problem, file_.string() + ":2: yaml: the text is not UTF-8");
}

}  // namespace
}  // namespace agw
