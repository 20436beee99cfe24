#include "config/provider_settings.hpp"

#include <fstream>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

class ApiKeyTest : public ::testing::Test {
protected:
  ApiKey read(const ConfiguredProvider& provider) const {
    return read_api_key(provider, [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables_.find(name);
      return found == variables_.end() ? std::nullopt : std::optional(found->second);
    });
  }

  testing::ScratchDirectory scratch_;
  std::map<std::string, std::string> variables_;
};

TEST_F(ApiKeyTest, ComesFromTheVariableOrTheFile) {
  variables_["MY_KEY"] = "secret";
  EXPECT_EQ(read({.name = "mine", .kind = "openai", .api_key_env = "MY_KEY"}).value, "secret");
  std::ofstream(scratch_.path() / "key") << "hidden\n";
  const auto key = read({.name = "mine", .kind = "openai", .api_key_file = scratch_.path() / "key"});
  EXPECT_EQ(key.value, "hidden");
  EXPECT_EQ(key.problem, "");
}

TEST_F(ApiKeyTest, AMissingOneIsAProblemThatSaysWhere) {
  EXPECT_EQ(read({.name = "mine", .kind = "openai", .api_key_env = "MY_KEY"}).problem,
            "the environment variable MY_KEY is not set");
  EXPECT_EQ(read({.name = "mine", .kind = "openai", .api_key_file = "/nowhere/key"}).problem,
            "its api_key_file /nowhere/key cannot be read");
  std::ofstream(scratch_.path() / "key") << "\n";
  EXPECT_THAT(read({.name = "mine", .kind = "openai", .api_key_file = scratch_.path() / "key"}).problem,
              ::testing::EndsWith("key is empty"));
}

TEST_F(ApiKeyTest, AnAddressThatIsNoneIsAProblemThatNamesItsVariable) {
  const auto problem_of = [](const std::string& variable, const std::string& value) {
    std::vector<ConfiguredProvider> providers;
    const Environment environment = [&](const std::string& name) {
      return name == variable ? std::optional(value) : std::nullopt;
    };
    apply_environment(providers, environment);
    return providers.empty() ? "no provider" : read_api_key(providers.front(), environment).problem;
  };
  EXPECT_THAT(problem_of("OPENAI_BASE_URL", "somewhere"),
              ::testing::StartsWith("the environment variable OPENAI_BASE_URL must be an address that begins with"));
  EXPECT_THAT(problem_of("ANTHROPIC_BASE_URL", "http://a:b"), ::testing::HasSubstr("ANTHROPIC_BASE_URL"));
  EXPECT_EQ(problem_of("OLLAMA_HOST", "two words"),
            "the environment variable OLLAMA_HOST must be an address such as 127.0.0.1:11434");
  EXPECT_EQ(problem_of("OPENAI_BASE_URL", " http://127.0.0.1:8000/v1 "), "");
  for (const auto* host : {"0.0.0.0", "box:1234", "http://box", ":11434", "::", "[::1]"}) {
    EXPECT_EQ(problem_of("OLLAMA_HOST", host), "") << host;
  }
}

TEST_F(ApiKeyTest, OneThatWouldBreakAHeaderIsRefusedWithoutShowingIt) {
  variables_["MY_KEY"] = "secret\r\nX: y";
  const auto key = read({.name = "mine", .kind = "openai", .api_key_env = "MY_KEY"});
  EXPECT_EQ(key.value, "");
  EXPECT_THAT(key.problem, ::testing::Not(::testing::HasSubstr("secret")));
}

TEST_F(ApiKeyTest, TheVendorsKeyNeverGoesToAnotherAddress) {
  variables_["OPENAI_API_KEY"] = "secret";
  EXPECT_EQ(read({.name = "mine", .kind = "openai"}).value, "secret");
  EXPECT_EQ(read({.name = "mine", .kind = "openai", .base_url = "http://127.0.0.1:1"}).value, "");
  EXPECT_EQ(read({.name = "mine", .kind = "openai", .base_url = "http://127.0.0.1:1"}).problem, "");
  EXPECT_EQ(read({.name = "box", .kind = "ollama"}).problem, "");
}

TEST(ConfiguredProviders, ReadOllamasHostInAllItsForms) {
  const auto url = [](const std::string& host) {
    std::vector<ConfiguredProvider> providers;
    apply_environment(
        providers, [&](const std::string& name) { return name == "OLLAMA_HOST" ? std::optional(host) : std::nullopt; });
    return providers.at(0).base_url;
  };
  EXPECT_EQ(url("192.168.1.5"), "http://192.168.1.5:11434");
  EXPECT_EQ(url("0.0.0.0"), "http://127.0.0.1:11434");
  EXPECT_EQ(url("box:8000"), "http://box:8000");
  EXPECT_EQ(url(":8000"), "http://127.0.0.1:8000");
  EXPECT_EQ(url("https://ollama.com/api"), "https://ollama.com/api");
}

}  // namespace
}  // namespace agw
