#include "features/secrets/service.hpp"

#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string secret_failure(const std::function<void()>& action) {
  try {
    action();
  } catch (const SecretError& error) {
    return error.what();
  }
  return "none";
}

class SecretsTest : public ::testing::Test {
protected:
  fs::path file() const { return directory_.path() / "secrets.yaml"; }
  void put(const std::string& text) {
    std::ofstream(file()) << text;
    fs::permissions(file(), fs::perms::owner_read | fs::perms::owner_write);
  }

  const testing::ScratchDirectory directory_;
  const Secrets secrets_{directory_.path()};
};

TEST_F(SecretsTest, AreKeptPrivate) {
  secrets_.set("KEY", "value");
  EXPECT_EQ(fs::status(file()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(secrets_.expand("Bearer ${secret:KEY}"), "Bearer value");
}

TEST_F(SecretsTest, MayHoldAnyText) {
  for (const std::string value :
       {"yes", "1", "null", "a: b # c", "\"'\\", "two\nlines\t", "✓ \x7f", " spaces ", "${x}"}) {
    secrets_.set("KEY", value);
    EXPECT_EQ(secrets_.expand("${secret:KEY}"), value);
  }
  for (const std::string& value :
       {std::string(), std::string("\xff"), std::string("a\0b", 3), std::string(65'537, 'x')}) {
    EXPECT_NE(secret_failure([&] { secrets_.set("KEY", value); }), "none");
  }
}

TEST_F(SecretsTest, AreListedByNameAndRemoved) {
  EXPECT_THAT(secrets_.names(), ElementsAre());
  secrets_.set("B", "2");
  secrets_.set("A", "1");
  secrets_.set("B", "3");
  EXPECT_THAT(secrets_.names(), ElementsAre("A", "B"));
  EXPECT_TRUE(secrets_.remove("A"));
  EXPECT_FALSE(secrets_.remove("A"));
  EXPECT_EQ(secrets_.expand("${secret:B}"), "3");
  EXPECT_EQ(secrets_.find("B"), "3");
  EXPECT_EQ(secrets_.find("A"), std::nullopt);
}

TEST_F(SecretsTest, HaveNamesLikeVariables) {
  for (const std::string name : {"", "1A", "A-B", "A B", "ä", "A\n", "../x"}) {
    EXPECT_THAT(secret_failure([&] { secrets_.set(name, "x"); }), HasSubstr("letters, digits")) << name;
  }
}

TEST_F(SecretsTest, MayHaveANameThatMeansSomethingInYaml) {
  for (const std::string name : {"null", "NULL", "true", "no", "y", "e1", "_"}) {
    secrets_.set(name, "value");
    EXPECT_EQ(secrets_.find(name), "value") << name;
  }
  EXPECT_TRUE(secrets_.remove("null"));
}

TEST_F(SecretsTest, AreNotMoreThanCanBeReadAgain) {
  put("KEY: " + std::string(1'000'000, 'x'));
  EXPECT_THAT(secret_failure([&] { secrets_.set("LAST", std::string(64 * 1024, 'x')); }),
              HasSubstr("larger than 1 MiB"));
  EXPECT_THAT(secrets_.names(), ElementsAre("KEY"));
}

TEST_F(SecretsTest, AreFilledInWhereverTheyAreNamed) {
  secrets_.set("A", "1");
  secrets_.set("B", "${secret:A}");
  EXPECT_EQ(secrets_.expand("${secret:A}-${secret:A}${secret:B}"), "1-1${secret:A}") << "a value is not expanded";
  EXPECT_EQ(secrets_.expand("$A ${A} ${secret:A"), "$A ${A} ${secret:A");
  EXPECT_EQ(secrets_.expand(""), "");
}

TEST_F(SecretsTest, ThatAreMissingAreReported) {
  EXPECT_EQ(secret_failure([&] { secrets_.expand("${secret:NONE}"); }),
            "there is no secret NONE: set it with `agw secret set NONE`");
  EXPECT_THAT(secret_failure([&] { secrets_.expand("${secret:}"); }), HasSubstr("letters, digits"));
}

TEST_F(SecretsTest, AreNotTakenFromAFileThatIsOpenToOthers) {
  put("KEY: value\n");
  EXPECT_EQ(secrets_.expand("${secret:KEY}"), "value");
  fs::permissions(file(), fs::perms::group_read, fs::perm_options::add);
  EXPECT_THAT(secret_failure([&] { secrets_.names(); }), HasSubstr("chmod 600"));
}

TEST_F(SecretsTest, OfABrokenFileAreNotShown) {
  for (const std::string text : {"KEY: [hunter2", "- hunter2", "KEY: {a: hunter2}", "hunter2"}) {
    put(text);
    const auto why = secret_failure([&] { secrets_.names(); });
    EXPECT_NE(why, "none") << text;
    EXPECT_THAT(why, Not(HasSubstr("hunter2")));
  }
}

TEST_F(SecretsTest, AreNotFollowedThroughASymlink) {
  fs::create_symlink("/etc/hostname", file());
  EXPECT_THAT(secret_failure([&] { secrets_.names(); }), HasSubstr("cannot read"));
}

TEST_F(SecretsTest, AreAllKeptWhenSeveralAreSetAtOnce) {
  {
    std::vector<std::jthread> writers;
    for (const auto* name : {"A", "B", "C", "D"}) {
      writers.emplace_back([this, name] { secrets_.set(name, "x"); });
    }
  }
  EXPECT_EQ(secrets_.names().size(), 4u);
}

}  // namespace
}  // namespace agw
