#include "config/settings.hpp"

#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

using ::testing::ElementsAre;
using testing::ScratchDirectory;

class SettingsTest : public ::testing::Test {
protected:
  Settings load(const std::string& yaml) {
    std::ofstream(file_) << yaml;
    return load_settings({flags_, environment_of(variables_), file_});
  }

  /// The error that the author of the file sees, without the file's directory.
  std::string error_of(const std::string& yaml) {
    try {
      load(yaml);
    } catch (const StartError& error) {
      EXPECT_EQ(error.status(), ExitStatus::usage);
      const std::string message = error.what();
      const auto folder = scratch_.path().string() + "/";
      return message.starts_with(folder) ? message.substr(folder.size()) : message;
    }
    return "no error";
  }

  static Environment environment_of(const std::map<std::string, std::string>& variables) {
    return [variables](const std::string& name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
  }

  ScratchDirectory scratch_;
  std::filesystem::path file_ = scratch_.path() / "config.yaml";
  std::map<std::string, std::string> flags_;
  std::map<std::string, std::string> variables_;
};

TEST_F(SettingsTest, DefaultsHoldWithoutAFileAndWithOneOfComments) {
  const auto missing = load_settings({{}, environment_of({}), scratch_.path() / "none.yaml"});
  const auto comments = load("# nothing but\n\n   # comments\n");
  for (const auto& settings : {missing, comments}) {
    EXPECT_EQ(settings.host, "127.0.0.1");
    EXPECT_EQ(settings.port, 7420);
    EXPECT_EQ(settings.auth, Auth::token);
    EXPECT_EQ(settings.log_level, log::Level::info);
    EXPECT_EQ(settings.limits.body_mib, 10);
    EXPECT_EQ(settings.limits.connections, 16384);
    EXPECT_EQ(settings.sandbox, SandboxKind::bubblewrap);
    EXPECT_EQ(settings.budget_usd_per_day, std::nullopt);
    EXPECT_EQ(settings.retention.days, 90);
    EXPECT_EQ(settings.checkpoints.file_mib, 10);
    EXPECT_EQ(settings.checkpoints.total_mib, 500);
    EXPECT_EQ(settings.checkpoints.days, 30);
    EXPECT_TRUE(settings.providers.empty());
  }
}

TEST_F(SettingsTest, ReadsEveryKeyOfTheFile) {
  const auto settings = load(R"(
host: 0.0.0.0
port: 8080
auth: token
log_level: off
hosts: [gateway.example.org, box]
origins:
  - https://example.org
public_url: https://gateway.example.org
tls: {cert: cert.pem, key: /etc/key.pem}
limits:
  body_mib: 20
  connections: 100
models:
  default: mine/large
sandbox: none
tools:
  web_fetch:
    allow_hosts: [wiki]
budget_usd_per_day: 2.5
retention: {days: 30}
checkpoints: {file_mib: 1, total_mib: 20, days: 7}
)");
  EXPECT_EQ(settings.host, "0.0.0.0");
  EXPECT_EQ(settings.port, 8080);
  EXPECT_EQ(settings.log_level, log::Level::off);
  EXPECT_THAT(settings.hosts, ElementsAre("gateway.example.org", "box"));
  EXPECT_THAT(settings.origins, ElementsAre("https://example.org"));
  EXPECT_EQ(settings.public_url, "https://gateway.example.org");
  EXPECT_EQ(settings.tls.cert, scratch_.path() / "cert.pem");
  EXPECT_EQ(settings.tls.key, "/etc/key.pem");
  EXPECT_EQ(settings.limits.body_mib, 20);
  EXPECT_EQ(settings.limits.connections, 100);
  EXPECT_EQ(settings.models.default_model, "mine/large");
  EXPECT_EQ(settings.sandbox, SandboxKind::none);
  EXPECT_THAT(settings.tools.web_fetch_allow_hosts, ElementsAre("wiki"));
  EXPECT_EQ(settings.budget_usd_per_day, 2.5);
  EXPECT_EQ(settings.retention.days, 30);
  EXPECT_EQ(settings.checkpoints.file_mib, 1);
  EXPECT_EQ(settings.checkpoints.total_mib, 20);
  EXPECT_EQ(settings.checkpoints.days, 7);
}

TEST_F(SettingsTest, AFlagPrecedesTheEnvironmentTheFileAndTheDefault) {
  EXPECT_EQ(load("port: 1").port, 1);
  variables_["AGENT_GATEWAY_PORT"] = "2";
  EXPECT_EQ(load("port: 1").port, 2);
  flags_["port"] = "0";
  EXPECT_EQ(load("port: 1").port, 0);
  flags_["auth"] = "none";
  EXPECT_EQ(load("auth: token").auth, Auth::none);
}

TEST_F(SettingsTest, AKeyWithoutAValueKeepsItsDefault) { EXPECT_EQ(load("port:\nlimits:\nhost: ~\n").port, 7420); }

TEST_F(SettingsTest, ErrorsNameFileLineAndKey) {
  EXPECT_EQ(error_of("# first\nport: many\n"), "config.yaml:2: port: must be a whole number from 0 to 65535");
  EXPECT_EQ(error_of("port: 65536"), "config.yaml:1: port: must be a whole number from 0 to 65535");
  EXPECT_EQ(error_of("port: -1"), "config.yaml:1: port: must be a whole number from 0 to 65535");
  EXPECT_EQ(error_of("port: 80.5"), "config.yaml:1: port: must be a whole number from 0 to 65535");
  EXPECT_EQ(error_of("port: '80'"), "config.yaml:1: port: must be a whole number from 0 to 65535");
  EXPECT_EQ(error_of("port: [80]"), "config.yaml:1: port: must be a whole number from 0 to 65535");
  EXPECT_EQ(error_of("host: 42"), "config.yaml:1: host: must be an IP address or localhost");
  EXPECT_EQ(error_of("host: ''"), "config.yaml:1: host: must be an IP address or localhost");
  EXPECT_EQ(error_of("host: http://here"), "config.yaml:1: host: must be an IP address or localhost");
  EXPECT_EQ(error_of("auth: password"), "config.yaml:1: auth: must be one of token, none");
  EXPECT_EQ(error_of("auth: true"), "config.yaml:1: auth: must be one of token, none");
  EXPECT_EQ(error_of("log_level: loud"),
            "config.yaml:1: log_level: must be one of trace, debug, info, warn, error, off");
  EXPECT_EQ(error_of("hosts: here"), "config.yaml:1: hosts: must be a list of host names without scheme, port or path");
  EXPECT_EQ(error_of("hosts:\n  - here\n  - here:80"),
            "config.yaml:3: hosts: must be a list of host names without scheme, port or path; here:80 is invalid");
  EXPECT_EQ(error_of("hosts: [[]]"),
            "config.yaml:1: hosts: must be a list of host names without scheme, port or path; this item is "
            "invalid");
  EXPECT_EQ(error_of("origins: [https://example.org/]"),
            "config.yaml:1: origins: must be a list of origins such as https://example.org, without a path; "
            "https://example.org/ is invalid");
  EXPECT_EQ(error_of("public_url: example.org"),
            "config.yaml:1: public_url: must be an address that begins with http:// or https://, such as "
            "https://example.org:8443");
  EXPECT_EQ(error_of("\n\nlimits:\n  body_mib: 0"),
            "config.yaml:4: limits.body_mib: must be a whole number from 1 to 1024");
  const std::string timeout = "config.yaml:1: approvals.timeout_minutes: must be a number above 0, up to 1440";
  EXPECT_EQ(error_of("approvals: {timeout_minutes: 0}"), timeout);
  EXPECT_EQ(error_of("approvals: {timeout_minutes: 1440.5}"), timeout);
  EXPECT_EQ(load("approvals: {timeout_minutes: 0.05}").approvals.timeout_minutes, 0.05);
  EXPECT_EQ(error_of("budget_usd_per_day: -1"), "config.yaml:1: budget_usd_per_day: must be a number from 0 up");
  EXPECT_EQ(error_of("budget_usd_per_day: .inf"), "config.yaml:1: budget_usd_per_day: must be a number from 0 up");
  EXPECT_EQ(error_of("limits: 5"), "config.yaml:1: limits: must be a section: indent its keys below it");
  EXPECT_EQ(error_of("tls:\n  cert: a.pem"), "config.yaml:1: tls.key: is required: HTTPS takes tls.cert and tls.key");
  EXPECT_EQ(error_of("port: 1\nhost: a\nport: 2"), "config.yaml:3: port: is given twice");
}

TEST_F(SettingsTest, AnUnknownKeyIsReportedWithTheNearestKnownOne) {
  EXPECT_EQ(error_of("host: ::1\nprot: 80"), "config.yaml:2: prot: unknown key; did you mean port?");
  EXPECT_EQ(error_of("limits:\n  body_mb: 1"),
            "config.yaml:2: limits.body_mb: unknown key; did you mean limits.body_mib?");
  EXPECT_EQ(error_of("body_mib: 1"), "config.yaml:1: body_mib: unknown key; did you mean limits.body_mib?");
  EXPECT_EQ(error_of("provider: {}"), "config.yaml:1: provider: unknown key; did you mean providers?");
  EXPECT_EQ(error_of("xylophone: 1"), "config.yaml:1: xylophone: unknown key");
}

TEST_F(SettingsTest, InvalidYamlIsReportedWithItsLine) {
  EXPECT_THAT(error_of("port: 1\nhosts: [a\nhost: b"), ::testing::MatchesRegex("config.yaml:[23]: yaml: .+"));
  EXPECT_THAT(error_of("port: 1\n\t- x"), ::testing::StartsWith("config.yaml:2: yaml: "));
  EXPECT_EQ(error_of("just words"), "config.yaml:1: yaml: must be lines of the form `key: value`");
  EXPECT_THAT(error_of("port: 1\n---\nport: 2"), ::testing::HasSubstr("yaml: must be one document"));
  EXPECT_EQ(error_of(", b"), "config.yaml:1: yaml: must be one document");
  EXPECT_EQ(error_of("port: 1\n--- , b"), "config.yaml:2: yaml: must be one document");
  EXPECT_EQ(error_of("[] ,"), "config.yaml:1: yaml: must be one document");
  EXPECT_EQ(error_of("hosts: &a [*a]"), "config.yaml:1: yaml: is nested too deeply");
  EXPECT_EQ(error_of("port: 1\nmodels: {default: \"a/\xff\"}"), "config.yaml:2: yaml: the text is not UTF-8");
}

TEST_F(SettingsTest, AliasesCannotExpandToBillionsOfNodes) {
  const auto list_of = [](const std::string& item) {
    std::string items;
    for (int i = 0; i < 10'000; ++i) items += item + ",";
    return "[" + items + "]";
  };
  EXPECT_THAT(error_of("hosts:\n- &a " + list_of("x") + "\n- &b " + list_of("*a") + "\n- " + list_of("*b")),
              ::testing::EndsWith("yaml: has too many values, including those of aliases"));
}

TEST_F(SettingsTest, AliasesCannotExpandToGigabytes) {
  std::string aliases;
  for (int i = 0; i < 100; ++i) aliases += "*a,";
  const auto text = "hosts:\n- &a " + std::string(100'000, 'x');
  const auto problem = ::testing::EndsWith("yaml: has too many values, including those of aliases");
  EXPECT_THAT(error_of(text + "\n- [" + aliases + "]"), problem);
  std::string keys;
  for (int i = 0; i < 100; ++i) keys += "{*a : 1},";
  EXPECT_THAT(error_of(text + "\n- [" + keys + "]"), problem);
}

TEST_F(SettingsTest, ErrorsInFlagsAndVariablesNameThem) {
  variables_["AGENT_GATEWAY_PORT"] = "x";
  EXPECT_EQ(error_of(""), "AGENT_GATEWAY_PORT: must be a whole number from 0 to 65535");
  variables_.clear();
  flags_["log_level"] = "loud";
  EXPECT_EQ(error_of(""), "--log-level: must be one of trace, debug, info, warn, error, off");
}

TEST_F(SettingsTest, AMissingRequiredFileIsNamed) {
  const auto missing = scratch_.path() / "missing.yaml";
  try {
    load_settings({{}, environment_of({}), missing, true});
    FAIL() << "was taken";
  } catch (const StartError& error) {
    EXPECT_EQ(error.what(), missing.string() + ": cannot be read: No such file or directory");
  }
}

TEST_F(SettingsTest, AFileThatCannotBeReadIsNamed) {
  std::filesystem::create_directory(file_);
  EXPECT_EQ(error_of(""), "config.yaml: cannot be read: it is no regular file");
}

TEST_F(SettingsTest, ProvidersComeInTheOrderOfTheFile) {
  const auto settings = load(R"(
providers:
  workstation:
    kind: openai
    base_url: http://127.0.0.1:8000/v1
    api: chat
    default_model: qwen3
    api_key_file: keys/workstation
  anthropic:
    default_model: claude
)");
  ASSERT_EQ(settings.providers.size(), 2u);
  const auto& first = settings.providers[0];
  EXPECT_EQ(first.name, "workstation");
  EXPECT_EQ(first.kind, "openai");
  EXPECT_EQ(first.base_url, "http://127.0.0.1:8000/v1");
  EXPECT_EQ(first.api, "chat");
  EXPECT_EQ(first.default_model, "qwen3");
  EXPECT_EQ(first.api_key_file, scratch_.path() / "keys/workstation");
  EXPECT_EQ(settings.providers[1].kind, "anthropic") << "the name of a kind stands for it";
}

TEST_F(SettingsTest, ErrorsInAProviderAreReported) {
  EXPECT_EQ(error_of("providers:\n  mine:\n    base_url: http://a\n"),
            "config.yaml:2: providers.mine.kind: is required: one of anthropic, openai, ollama, gemini");
  EXPECT_EQ(error_of("providers:\n  mine: {kind: bard}\n"),
            "config.yaml:2: providers.mine.kind: must be one of anthropic, openai, ollama, gemini");
  EXPECT_EQ(error_of("providers:\n  openai:\n    api_key: secret\n"),
            "config.yaml:3: providers.openai.api_key: unknown key; did you mean providers.openai.api_key_env?");
  EXPECT_EQ(error_of("providers:\n  openai:\n    api_key_env: sk-secret\n"),
            "config.yaml:3: providers.openai.api_key_env: must be the name of an environment variable");
  EXPECT_EQ(error_of("providers:\n  openai: {api_key_env: A, api_key_file: b}\n"),
            "config.yaml:2: providers.openai: must have api_key_env or api_key_file, not both");
  EXPECT_EQ(error_of("providers:\n  ollama: {api: chat}\n"),
            "config.yaml:2: providers.ollama.api: is only for the kind openai");
  EXPECT_EQ(error_of("providers:\n  offline: {kind: openai}\n"),
            "config.yaml:2: providers.offline: the name must be of a-z, 0-9, - and _, and not `offline`");
  EXPECT_EQ(error_of("providers:\n  openai: x\n"),
            "config.yaml:2: providers.openai: must be a section: indent its keys below it");
  EXPECT_EQ(error_of("providers: []\n"),
            "config.yaml:1: providers: must be a map from the names of providers to their keys");
}

TEST_F(SettingsTest, TheUsualVariablesSetUpProviders) {
  variables_ = {{"OPENAI_BASE_URL", "http://localhost:1/v1"}, {"OLLAMA_HOST", "box"}, {"ANTHROPIC_API_KEY", "a"}};
  const auto settings = load("providers: {openai: {base_url: http://file, default_model: m}}");
  ASSERT_EQ(settings.providers.size(), 3u);
  EXPECT_EQ(settings.providers[0].name, "openai");
  EXPECT_EQ(settings.providers[0].base_url, "http://localhost:1/v1");
  EXPECT_EQ(settings.providers[0].default_model, "m");
  EXPECT_EQ(settings.providers[1].name, "anthropic");
  EXPECT_EQ(settings.providers[1].api_key_env, "ANTHROPIC_API_KEY");
  EXPECT_EQ(settings.providers[2].name, "ollama");
  EXPECT_EQ(settings.providers[2].base_url, "http://box:11434");
}

TEST_F(SettingsTest, TheExampleIsWrittenOnceAndSetsNothing) {
  write_example_configuration(file_);
  std::ostringstream written;
  written << std::ifstream(file_).rdbuf();
  EXPECT_EQ(written.str(), example_configuration());
  std::istringstream lines(written.str());
  for (std::string line; std::getline(lines, line);) EXPECT_TRUE(line.empty() || line.starts_with('#')) << line;

  std::ofstream(file_) << "port: 5\n";
  write_example_configuration(file_);
  EXPECT_EQ(load_settings({{}, environment_of({}), file_}).port, 5) << "what a person wrote stays";
}

TEST_F(SettingsTest, EveryKeyOfTheExampleCanBeSwitchedOn) {
  std::string yaml;
  std::istringstream lines(example_configuration());
  for (std::string line; std::getline(lines, line);) {
    const bool prose = line.starts_with("# ") && !line.starts_with("#  ");
    if (!line.empty() && !prose) yaml += line.substr(1) + "\n";
  }
  const auto settings = load(yaml);
  EXPECT_EQ(settings.port, 7420);
  EXPECT_EQ(settings.limits.body_mib, 10);
  EXPECT_EQ(settings.tools.web_fetch_allow_hosts.size(), 1u);
  EXPECT_EQ(settings.providers.size(), 1u);
}

}  // namespace
}  // namespace agw
