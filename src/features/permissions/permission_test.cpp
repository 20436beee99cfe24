#include "features/permissions/service.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "features/permissions/testing.hpp"

namespace agw {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using PermissionVerdict = Permission::Verdict;
using testing::call;
using testing::file;
using testing::of_kind;
using testing::Row;
using testing::stages;

/// The first letters of the verdicts (allowed, staged, denied) of all stages, apprentice first.
std::string letters(ToolRequest request) {
  std::string found;
  for (const auto stage : stages) {
    request.stage = stage;
    const auto permission = permission_for(request);
    found += permission.verdict == PermissionVerdict::allowed  ? 'a'
             : permission.verdict == PermissionVerdict::staged ? 's'
                                                               : 'd';
    EXPECT_EQ(permission.verdict == PermissionVerdict::denied, permission.reason.starts_with("permission denied: "))
        << permission.reason;
  }
  return found;
}

class PermissionByStage : public ::testing::TestWithParam<Row> {};

TEST_P(PermissionByStage, MatchesTheTable) { EXPECT_EQ(letters(GetParam().request), GetParam().by_stage); }

INSTANTIATE_TEST_SUITE_P(
    Looking, PermissionByStage,
    ::testing::Values(Row{"Read in the project", call("Read", {}, file(FilePlace::project)), "aaaa"},
                      Row{"Read in home", call("Read", {}, file(FilePlace::home)), "aaaa"},
                      Row{"Read a shared page", call("Read", {}, file(FilePlace::library)), "aaaa"},
                      Row{"Read the own directory", call("Read", {}, file(FilePlace::own_directory)), "aaaa"},
                      Row{"Read the own soul", call("Read", {}, file(FilePlace::own_soul)), "aaaa"},
                      Row{"Read a guarded file", call("Read", {}, file(FilePlace::guarded)), "aaaa"},
                      Row{"Read a hidden file", call("Read", {}, file(FilePlace::hidden)), "dddd"},
                      Row{"Read outside", call("Read", {}, file(FilePlace::outside)), "dddd"},
                      Row{"Read a private file", call("Read", {}, file(FilePlace::never)), "dddd"},
                      Row{"Glob", call("Glob", {}, file(FilePlace::project)), "aaaa"},
                      Row{"Glob outside", call("Glob", {}, file(FilePlace::outside)), "dddd"},
                      Row{"Grep", call("Grep", {}, file(FilePlace::project)), "aaaa"},
                      Row{"Grep private files", call("Grep", {}, file(FilePlace::never)), "dddd"},
                      Row{"WebSearch", call("WebSearch"), "aaaa"}, Row{"SearchTurns", call("SearchTurns"), "aaaa"},
                      Row{"Tasks", call("Tasks"), "aaaa"}, Row{"SearchKnowledge", call("SearchKnowledge"), "aaaa"},
                      Row{"ListExtensions", call("ListExtensions"), "aaaa"},
                      Row{"ReadSkill", call("ReadSkill"), "aaaa"}, Row{"Propose", call("Propose"), "aaaa"},
                      Row{"a prompt action", of_kind(ToolKind::prompt_action), "aaaa"},
                      Row{"a builtin action", of_kind(ToolKind::builtin_action), "aaaa"},
                      Row{"WebFetch of a named URL",
                          call("WebFetch", {}, {.host = "example.org", .url_was_named = true}), "aaaa"},
                      Row{"WebFetch of another URL", call("WebFetch", {}, {.host = "example.org"}), "ddaa"}));

INSTANTIATE_TEST_SUITE_P(
    Changing, PermissionByStage,
    ::testing::Values(Row{"Write in the project", call("Write", {}, file(FilePlace::project)), "saaa"},
                      Row{"Edit in the project", call("Edit", {}, file(FilePlace::project)), "saaa"},
                      Row{"Write in the workspace", call("Write", {}, file(FilePlace::workspace)), "saaa"},
                      Row{"Write elsewhere in home", call("Write", {}, file(FilePlace::home)), "sddd"},
                      Row{"Edit a shared page", call("Edit", {}, file(FilePlace::library)), "sddd"},
                      Row{"Write the own directory", call("Write", {}, file(FilePlace::own_directory)), "sddd"},
                      Row{"Write the own soul", call("Write", {}, file(FilePlace::own_soul)), "sdda"},
                      Row{"Write a guarded file", call("Write", {}, file(FilePlace::guarded)), "dddd"},
                      Row{"Write a hidden file", call("Write", {}, file(FilePlace::hidden)), "dddd"},
                      Row{"Write outside", call("Write", {}, file(FilePlace::outside)), "dddd"},
                      Row{"Edit a private file", call("Edit", {}, file(FilePlace::never)), "dddd"},
                      Row{"CreateExtension", call("CreateExtension"), "ssaa"},
                      Row{"UpdateExtension of the own", call("UpdateExtension", {}, {.record_is_own = true}), "ssaa"},
                      Row{"UpdateExtension of another's", call("UpdateExtension"), "ssss"}));

INSTANTIATE_TEST_SUITE_P(
    Acting, PermissionByStage,
    ::testing::Values(Row{"Bash", call("Bash"), "daaa"}, Row{"a shell action", of_kind(ToolKind::shell_action), "daaa"},
                      Row{"Remember", call("Remember"), "daaa"}, Row{"Ingest", call("Ingest"), "daaa"},
                      Row{"Ingest a file", call("Ingest", {}, file(FilePlace::home)), "daaa"},
                      Row{"Ingest a key", call("Ingest", {}, file(FilePlace::never)), "dddd"},
                      Row{"Ingest any page", call("Ingest", {}, {.host = "a.b"}), "ddaa"},
                      Row{"Ingest a page that was named", call("Ingest", {}, {.host = "a.b", .url_was_named = true}),
                          "daaa"},
                      Row{"RunJob", call("RunJob"), "daaa"}, Row{"Delegate", call("Delegate"), "daaa"},
                      Row{"an http action", of_kind(ToolKind::http_action), "ddaa"},
                      Row{"an mcp action", of_kind(ToolKind::mcp_action), "ddaa"},
                      Row{"a tool of an integration", of_kind(ToolKind::integration), "ddaa"},
                      Row{"a tool that does not exist", call("Fly"), "dddd"}));

TEST(PermissionFor, TheSandboxHasANetworkFromTrustedOn) {
  for (const auto& request : {call("Bash"), of_kind(ToolKind::shell_action)}) {
    for (const auto stage : stages) {
      auto at_stage = request;
      at_stage.stage = stage;
      EXPECT_EQ(permission_for(at_stage).network, stage >= Stage::trusted);
    }
  }
}

TEST(PermissionFor, CapabilitiesWithoutAnyHostDenyTheSandboxItsNetwork) {
  auto request = call("Bash");
  request.limits.hosts.emplace();
  EXPECT_FALSE(permission_for(request).network);
  for (const auto* host : {"example.org", "*"}) {
    request.limits.hosts = {host};
    EXPECT_TRUE(permission_for(request).network) << host;
  }
}

/// The permission of a command to reach the target, for an agent whose capabilities list these hosts.
Permission reach(const std::string& target, std::vector<std::string> hosts, Stage stage = Stage::trusted) {
  auto request = call("Bash", stage, {.host = target, .command = "curl"});
  request.limits.hosts = std::move(hosts);
  return permission_for(request);
}

TEST(PermissionFor, EachHostOfACommandIsJudged) {
  EXPECT_EQ(reach("pypi.org:443", {"pypi.org"}).verdict, PermissionVerdict::allowed);
  EXPECT_EQ(reach("a.example.org:8443", {"*.example.org:8443"}).verdict, PermissionVerdict::allowed);
  EXPECT_EQ(reach("a.example.org:443", {"*.example.org:8443"}).verdict, PermissionVerdict::denied);
  EXPECT_EQ(reach("evil.com:443", {"pypi.org"}).verdict, PermissionVerdict::denied);
  EXPECT_EQ(reach("evilpypi.org:443", {"*.pypi.org"}).verdict, PermissionVerdict::denied);
  EXPECT_EQ(reach("pypi.org:443", {"*"}, Stage::operating).verdict, PermissionVerdict::denied);
}

TEST(PermissionFor, OnlyANamedHostMayBeAtAPrivateAddress) {
  EXPECT_TRUE(reach("127.0.0.1:80", {"127.0.0.1"}).names_host);
  EXPECT_TRUE(reach("[::1]:80", {"[::1]:80"}).names_host);
  EXPECT_TRUE(reach("localhost:80", {"localhost"}).names_host);
  EXPECT_TRUE(reach("nas.lan:80", {"nas.lan"}).names_host);
  EXPECT_FALSE(reach("127.0.0.1:80", {"*"}).names_host);
  EXPECT_FALSE(reach("nas.lan:80", {"*.lan"}).names_host);
  EXPECT_FALSE(reach("example.org:80", {"example.org"}).names_host) << "its owner chooses the address";
}

TEST(PermissionFor, AGrantForAHostIsNoneForACommandAndViceVersa) {
  auto request = call("Bash", Stage::operating, {.host = "a.b:443", .command = "curl"});
  request.may_ask = true;
  EXPECT_EQ(permission_for(request).verdict, PermissionVerdict::ask);
  EXPECT_EQ(grant_pattern(request), "(host) a.b:443");
  const auto with = [&](const char* pattern) {
    request.grants = std::make_shared<const std::vector<GrantedPattern>>(1, GrantedPattern{"Bash", pattern});
    return permission_for(request).verdict;
  };
  EXPECT_EQ(with("(host) a.b:443"), PermissionVerdict::allowed);
  for (const auto* pattern : {"a.b:443", "curl", "(host) a.b:80"})
    EXPECT_EQ(with(pattern), PermissionVerdict::ask) << pattern;
}

TEST(PermissionFor, ExtensionsStayDisabledBelowSovereign) {
  EXPECT_TRUE(permission_for(call("CreateExtension", Stage::trusted)).disables_record);
  EXPECT_FALSE(permission_for(call("CreateExtension", Stage::sovereign)).disables_record);
  EXPECT_TRUE(permission_for(call("UpdateExtension", Stage::trusted, {.record_is_own = true})).disables_record);
  EXPECT_FALSE(permission_for(call("UpdateExtension", Stage::sovereign, {.record_is_own = true})).disables_record);
}

TEST(PermissionFor, PlanModeHasItsFiveToolsAtEveryStage) {
  const std::set<std::string> five{"Read", "Glob", "Grep", "WebFetch", "WebSearch"};
  for (const std::string tool : {"Read", "Glob", "Grep", "WebFetch", "WebSearch", "Write", "Edit", "Bash",
                                 "SearchTurns", "SearchKnowledge", "Remember", "Ingest", "Propose", "CreateExtension",
                                 "UpdateExtension", "RunJob", "ListExtensions", "ReadSkill", "Delegate"}) {
    auto request = call(tool, Stage::sovereign, {.place = FilePlace::project, .url_was_named = true});
    request.mode = ThreadMode::plan;
    EXPECT_EQ(permission_for(request).verdict == PermissionVerdict::allowed, five.contains(tool)) << tool;
    EXPECT_EQ(is_offered(request), five.contains(tool)) << tool;
  }
  auto action = of_kind(ToolKind::builtin_action);
  action.mode = ThreadMode::plan;
  EXPECT_THAT(permission_for(action).reason, HasSubstr("plan mode"));
}

TEST(PermissionFor, ModeAndStageMustBothAllow) {
  auto request = call("Read", Stage::apprentice, file(FilePlace::never));
  request.mode = ThreadMode::plan;
  EXPECT_EQ(permission_for(request).verdict, PermissionVerdict::denied);
  auto fetch = call("WebFetch", Stage::apprentice, {.host = "example.org"});
  fetch.mode = ThreadMode::plan;
  EXPECT_EQ(permission_for(fetch).verdict, PermissionVerdict::denied);
}

TEST(PermissionFor, AllowsOnlyTheToolsOfTheAgent) {
  auto request = call("Bash");
  request.limits.tools = {"Read"};
  EXPECT_THAT(permission_for(request).reason, StartsWith("permission denied: Bash is not among the tools"));
  request.limits.tools = {"Bash"};
  EXPECT_EQ(permission_for(request).verdict, PermissionVerdict::allowed);
  request.stage = Stage::apprentice;
  EXPECT_EQ(permission_for(request).verdict, PermissionVerdict::denied) << "its tools widen nothing";
  request.limits.tools.emplace();
  EXPECT_FALSE(is_offered(request));
}

struct ScopeRow {
  const char* name;
  ToolRequest request;
  std::optional<ToolScope> scope;
};

void PrintTo(const ScopeRow& row, std::ostream* out) { *out << row.name; }

class PermissionByScope : public ::testing::TestWithParam<ScopeRow> {};

TEST_P(PermissionByScope, RequiresTheScope) {
  for (const auto scope : {ToolScope::read, ToolScope::write, ToolScope::execute, ToolScope::network}) {
    auto request = GetParam().request;
    request.limits.scopes = {scope};
    const bool may = !GetParam().scope || scope == *GetParam().scope;
    const auto permission = permission_for(request);
    EXPECT_EQ(permission.verdict != PermissionVerdict::denied, may) << to_text(scope);
    EXPECT_EQ(permission.reason.starts_with("permission denied: "), !may) << permission.reason;
    EXPECT_EQ(is_offered(request), may) << to_text(scope);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Own, PermissionByScope,
    ::testing::Values(ScopeRow{"Read", call("Read", Stage::sovereign, file(FilePlace::project)), ToolScope::read},
                      ScopeRow{"Glob", call("Glob", Stage::sovereign, file(FilePlace::project)), ToolScope::read},
                      ScopeRow{"Grep", call("Grep", Stage::sovereign, file(FilePlace::project)), ToolScope::read},
                      ScopeRow{"SearchTurns", call("SearchTurns"), ToolScope::read},
                      ScopeRow{"Tasks", call("Tasks"), ToolScope::read},
                      ScopeRow{"SearchKnowledge", call("SearchKnowledge"), ToolScope::read},
                      ScopeRow{"ListExtensions", call("ListExtensions"), ToolScope::read},
                      ScopeRow{"ReadSkill", call("ReadSkill"), ToolScope::read},
                      ScopeRow{"Write", call("Write", Stage::sovereign, file(FilePlace::project)), ToolScope::write},
                      ScopeRow{"Edit", call("Edit", Stage::apprentice, file(FilePlace::project)), ToolScope::write},
                      ScopeRow{"Remember", call("Remember"), ToolScope::write},
                      ScopeRow{"Propose", call("Propose"), ToolScope::write},
                      ScopeRow{"CreateExtension", call("CreateExtension"), ToolScope::write},
                      ScopeRow{"UpdateExtension", call("UpdateExtension"), ToolScope::write},
                      ScopeRow{"Ingest", call("Ingest", Stage::sovereign, file(FilePlace::project)), ToolScope::write},
                      ScopeRow{"Bash", call("Bash"), ToolScope::execute},
                      ScopeRow{"RunJob", call("RunJob"), ToolScope::execute},
                      ScopeRow{"Delegate", call("Delegate"), ToolScope::execute},
                      ScopeRow{"WebFetch", call("WebFetch", Stage::sovereign, {.host = "a.b"}), ToolScope::network},
                      ScopeRow{"WebSearch", call("WebSearch"), ToolScope::network}));

INSTANTIATE_TEST_SUITE_P(
    Kinds, PermissionByScope,
    ::testing::Values(ScopeRow{"a shell action", of_kind(ToolKind::shell_action), ToolScope::execute},
                      ScopeRow{"an http action", of_kind(ToolKind::http_action), ToolScope::network},
                      ScopeRow{"an mcp action", of_kind(ToolKind::mcp_action), ToolScope::network},
                      ScopeRow{"a tool of an integration", of_kind(ToolKind::integration), ToolScope::network},
                      ScopeRow{"a prompt action", of_kind(ToolKind::prompt_action), std::nullopt},
                      ScopeRow{"a builtin action", of_kind(ToolKind::builtin_action), std::nullopt}));

TEST(PermissionFor, RequiresTheScopeNetworkForAllHosts) {
  auto ingest = call("Ingest", Stage::sovereign, {.host = "a.b"});
  ingest.limits.scopes = {ToolScope::write};
  EXPECT_EQ(
      permission_for(ingest).reason,
      "permission denied: Ingest needs the scope network, which the agent's capabilities leave out; a person adds "
      "it to their `scopes`");
  ingest.limits.scopes = {ToolScope::write, ToolScope::network};
  EXPECT_EQ(permission_for(ingest).verdict, PermissionVerdict::allowed);

  auto command = call("Bash");
  command.limits.scopes = {ToolScope::execute};
  EXPECT_FALSE(permission_for(command).network);
  command.limits.scopes = {ToolScope::execute, ToolScope::network};
  EXPECT_TRUE(permission_for(command).network);
}

TEST(PermissionFor, CapabilitiesRestrictPaths) {
  auto request = call("Write", Stage::operating, file(FilePlace::project, "/p/docs/a.md"));
  request.limits.paths = {"/p/docs"};
  EXPECT_EQ(permission_for(request).verdict, PermissionVerdict::allowed);
  request.target.path = "/p/docs2/a.md";
  EXPECT_EQ(permission_for(request).verdict, PermissionVerdict::denied);
  request.stage = Stage::apprentice;
  EXPECT_EQ(permission_for(request).verdict, PermissionVerdict::denied) << "not even staged";
  request.tool = "Read";
  EXPECT_EQ(permission_for(request).verdict, PermissionVerdict::denied);
}

TEST(PermissionFor, CapabilitiesWithPathsDenyCommands) {
  for (auto request : {call("Bash"), of_kind(ToolKind::shell_action)}) {
    request.limits.paths = {"/p/docs"};
    EXPECT_THAT(permission_for(request).reason,
                StartsWith("permission denied: a command cannot be held to the paths of the agent's capabilities"));
    EXPECT_FALSE(is_offered(request));
    request.limits.paths = {"/p/docs", "/"};
    EXPECT_EQ(permission_for(request).verdict, PermissionVerdict::allowed);
  }
}

TEST(PermissionFor, CapabilitiesRestrictHosts) {
  auto request = call("WebFetch", Stage::sovereign, {.host = "example.org"});
  request.limits.hosts = {"*.example.org"};
  EXPECT_EQ(permission_for(request).verdict, PermissionVerdict::denied);
  request.target.host = "docs.example.org";
  EXPECT_EQ(permission_for(request).verdict, PermissionVerdict::allowed);
  request.kind = ToolKind::http_action;
  request.target.host = "evil.com";
  EXPECT_EQ(permission_for(request).verdict, PermissionVerdict::denied);
}

TEST(PermissionFor, CapabilitiesLimitTheStage) {
  auto request = call("Bash", Stage::sovereign);
  request.limits.stage = Stage::apprentice;
  EXPECT_EQ(permission_for(request).verdict, PermissionVerdict::denied);
  request.limits.stage = Stage::operating;
  EXPECT_EQ(permission_for(request).verdict, PermissionVerdict::allowed);
  EXPECT_FALSE(permission_for(request).network);
  request.stage = Stage::apprentice;
  request.limits.stage = Stage::sovereign;
  EXPECT_EQ(permission_for(request).verdict, PermissionVerdict::denied) << "it widens nothing";
}

TEST(PermissionFor, RunsNestThreeDeep) {
  for (const std::string tool : {"Delegate", "RunJob"}) {
    auto request = call(tool);
    request.depth = 2;
    EXPECT_EQ(permission_for(request).verdict, PermissionVerdict::allowed);
    request.depth = 3;
    EXPECT_EQ(permission_for(request).verdict, PermissionVerdict::denied);
    EXPECT_FALSE(is_offered(request));
  }
}

TEST(PermissionFor, DeniesWritingToUnknownTargets) {
  EXPECT_EQ(permission_for(call("Write", Stage::sovereign)).verdict, PermissionVerdict::denied);
}

TEST(PermissionFor, DenialsSayWhatWouldHelp) {
  EXPECT_EQ(permission_for(call("Bash", Stage::apprentice)).reason,
            "permission denied: Bash needs an agent of stage operator, which a person sets with PATCH "
            "/agents/<name>/stage");
  EXPECT_THAT(permission_for(call("Write", Stage::operating, file(FilePlace::home))).reason, HasSubstr("Propose"));
  EXPECT_THAT(permission_for(call("WebFetch", Stage::operating, {.host = "a.b"})).reason, HasSubstr("allow_hosts"));
}

TEST(IsOffered, IncludesToolsThatCouldBeAllowedOrStaged) {
  EXPECT_TRUE(is_offered(call("Write", Stage::apprentice)));
  EXPECT_TRUE(is_offered(call("UpdateExtension", Stage::apprentice)));
  EXPECT_FALSE(is_offered(call("Bash", Stage::apprentice)));
  EXPECT_TRUE(is_offered(call("Bash", Stage::operating)));
  EXPECT_FALSE(is_offered(call("Fly", Stage::sovereign)));
}

TEST(RunStage, IsTheLowerOfBoth) {
  EXPECT_EQ(run_stage(Stage::trusted, std::nullopt), Stage::trusted);
  EXPECT_EQ(run_stage(Stage::trusted, Stage::operating), Stage::operating);
  EXPECT_EQ(run_stage(Stage::apprentice, Stage::sovereign), Stage::apprentice);
}

TEST(DelegateMode, IsTheCallersUnlessTheOtherIsPlan) {
  EXPECT_EQ(delegate_mode(ThreadMode::act, std::nullopt), ThreadMode::act);
  EXPECT_EQ(delegate_mode(ThreadMode::act, ThreadMode::act), ThreadMode::act);
  EXPECT_EQ(delegate_mode(ThreadMode::act, ThreadMode::plan), ThreadMode::plan);
  EXPECT_EQ(delegate_mode(ThreadMode::plan, ThreadMode::act), ThreadMode::plan);
}

TEST(PathMatches, IncludesEverythingBelowADirectory) {
  EXPECT_TRUE(path_matches("/p/docs", {"/p/docs"}));
  EXPECT_TRUE(path_matches("/p/docs/a/b.md", {"/p/docs/"}));
  EXPECT_FALSE(path_matches("/p/docsx", {"/p/docs"}));
  EXPECT_TRUE(path_matches("/p/a/b.md", {"/p/*.md"}));
  EXPECT_FALSE(path_matches("/p/a", {}));
}

}  // namespace
}  // namespace agw
