#include "io/proxy/declared_secrets.hpp"

#include <gmock/gmock.h>

#include "base/json/json.hpp"

namespace agw {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

json::object definition(std::string_view secrets) {
  return parse_json("{\"secrets\": " + std::string(secrets) + "}")->get_object();
}

std::string problem_with(std::string_view secrets) {
  const auto problems = declared_secret_problems(definition(secrets));
  return problems.empty() ? "" : problems.front().message;
}

bool matches(std::string_view pattern, const HostPort& target) { return to_host_pattern(pattern)->matches(target); }

TEST(DeclaredSecrets, AreReadFromADefinition) {
  const auto declared = declared_secrets(definition(
      R"({"TOKEN": {"secret": "GH", "hosts": ["API.GitHub.com", "10.0.0.1:8443"], "pass_through": ["*.github.com"]}})"));
  ASSERT_EQ(declared.size(), 1U);
  EXPECT_EQ(declared[0].variable, "TOKEN");
  EXPECT_EQ(declared[0].secret, "GH");
  ASSERT_EQ(declared[0].hosts.size(), 2U);
  EXPECT_EQ(declared[0].hosts[0].named.text(), "api.github.com:443");
  EXPECT_EQ(declared[0].hosts[1].named.text(), "10.0.0.1:8443");
  EXPECT_EQ(declared[0].pass_through.size(), 1U);
  EXPECT_THAT(declared_secrets({}), IsEmpty());
}

TEST(DeclaredSecrets, AHostIsMatchedWithItsPort) {
  EXPECT_TRUE(matches("api.example.com", {"api.example.com", 443}));
  EXPECT_FALSE(matches("api.example.com", {"api.example.com", 8443}));
  EXPECT_FALSE(matches("api.example.com", {"xapi.example.com", 443}));
  EXPECT_FALSE(matches("api.example.com", {"api.example.com.evil.org", 443}));
  EXPECT_TRUE(matches("*.example.com", {"a.b.example.com", 443}));
  EXPECT_FALSE(matches("*.example.com", {"example.com", 443}));
  EXPECT_FALSE(matches("*.example.com", {"badexample.com", 443}));
  EXPECT_TRUE(matches("[::1]:8443", {"::1", 8443}));
}

TEST(DeclaredSecrets, InvalidHostsAreNoPatterns) {
  for (const auto* text :
       {"", "*", "*.com", "https://api.example.com", "api.example.com/path", "user@example.com", "a b", "a:b", "a:0",
        "a.*.com", "*a.example.com", "..", "a..b", ".example.com", "::1", "a,b"}) {
    EXPECT_FALSE(to_host_pattern(text)) << text;
  }
}

TEST(DeclaredSecrets, ProblemsNameTheirPlace) {
  EXPECT_EQ(problem_with(R"({"TOKEN": {"secret": "GH", "hosts": ["api.example.com"]}})"), "");
  EXPECT_THAT(problem_with(R"({"A-B": {"secret": "GH", "hosts": ["a.b"]}})"),
              HasSubstr("definition.secrets.A-B is not the name of a variable"));
  for (const auto* name : {"PATH", "LD_PRELOAD", "BASH_ENV", "https_proxy", "SSL_CERT_FILE", "NODE_OPTIONS",
                           "AGW_INPUT_1", "GIT_SSH_COMMAND", "PORT"}) {
    EXPECT_THAT(problem_with("{\"" + std::string(name) + R"(": {"secret": "GH", "hosts": ["a.b"]}})"),
                HasSubstr("use themselves"))
        << name;
  }
  EXPECT_THAT(problem_with(R"({"T": {"secret": "${secret:GH}", "hosts": ["a.b"]}})"),
              HasSubstr("definition.secrets.T.secret must be the name of a secret"));
  EXPECT_THAT(problem_with(R"({"T": {"secret": "GH", "hosts": []}})"),
              HasSubstr("definition.secrets.T.hosts must name at least one host"));
  EXPECT_THAT(problem_with(R"({"T": {"secret": "GH", "hosts": ["a.b", "*"]}})"),
              HasSubstr("definition.secrets.T.hosts[1] must be a host"));
  EXPECT_THAT(problem_with(R"({"T": {"secret": "GH", "hosts": ["a.b"], "pass_through": ["x/y"]}})"),
              HasSubstr("definition.secrets.T.pass_through[0] must be a host"));
  auto both = definition(R"({"T": {"secret": "GH", "hosts": ["a.b"]}})");
  both["env"] = {{"T", "x"}};
  EXPECT_THAT(declared_secret_problems(both).front().message, HasSubstr("is in definition.env too"));
}

}  // namespace
}  // namespace agw
