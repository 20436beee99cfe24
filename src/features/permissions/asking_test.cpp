#include <cstddef>
#include <initializer_list>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "features/permissions/service.hpp"
#include "features/permissions/testing.hpp"

namespace agw {
namespace {

using testing::call;
using testing::file;
using ::testing::HasSubstr;
using testing::of_kind;
using testing::Row;
using testing::stages;
using ::testing::StartsWith;
using PermissionVerdict = Permission::Verdict;

/// The verdicts of all stages if a person can be asked, one letter each: a allowed, s staged, d denied; S and D if the
/// person is asked instead of staging or denying the call.
std::string letters_with_person(ToolRequest request) {
  std::string found;
  for (const auto stage : stages) {
    request.stage = stage;
    request.may_ask = true;
    const auto permission = permission_for(request);
    request.may_ask = false;
    const auto without = permission_for(request);
    switch (permission.verdict) {
      case PermissionVerdict::allowed:
        found += 'a';
        break;
      case PermissionVerdict::staged:
        found += 's';
        break;
      case PermissionVerdict::denied:
        found += 'd';
        break;
      case PermissionVerdict::ask:
        found += permission.otherwise == PermissionVerdict::staged ? 'S' : 'D';
        EXPECT_EQ(permission.otherwise, without.verdict);
        EXPECT_THAT(permission.rule, HasSubstr("needs an agent of stage"));
        EXPECT_THAT(permission.reason, StartsWith("permission denied: "));
        break;
    }
    EXPECT_TRUE(permission.verdict == PermissionVerdict::ask || permission.verdict == without.verdict);
  }
  return found;
}

class PermissionWithAPerson : public ::testing::TestWithParam<Row> {};

TEST_P(PermissionWithAPerson, AsksForWhatOnlyTheStageForbids) {
  EXPECT_EQ(letters_with_person(GetParam().request), GetParam().by_stage);
  auto planned = GetParam().request;
  planned.mode = ThreadMode::plan;
  EXPECT_EQ(letters_with_person(planned).find_first_of("SD") == std::string::npos || planned.tool == "WebFetch", true)
      << "mode plan asks only for hosts";
  auto limited = GetParam().request;
  limited.limits.tools.emplace();
  EXPECT_EQ(letters_with_person(limited), "dddd");
  limited.limits = {.stage = Stage::apprentice};
  EXPECT_EQ(letters_with_person(limited).find_first_of("SD"), std::string::npos) << "the capability's stage";
}

INSTANTIATE_TEST_SUITE_P(
    Files, PermissionWithAPerson,
    ::testing::Values(Row{"Read in the project", call("Read", {}, file(FilePlace::project)), "aaaa"},
                      Row{"Read a hidden file", call("Read", {}, file(FilePlace::hidden)), "dddd"},
                      Row{"Write in the project", call("Write", {}, file(FilePlace::project)), "Saaa"},
                      Row{"Edit in the workspace", call("Edit", {}, file(FilePlace::workspace)), "Saaa"},
                      Row{"Write the own soul", call("Write", {}, file(FilePlace::own_soul)), "SDDa"},
                      Row{"Write in home", call("Write", {}, file(FilePlace::home)), "sddd"},
                      Row{"Write a key", call("Write", {}, file(FilePlace::never)), "dddd"},
                      Row{"Write a guarded file", call("Write", {}, file(FilePlace::guarded)), "dddd"},
                      Row{"Write outside", call("Edit", {}, file(FilePlace::outside)), "dddd"},
                      Row{"Ingest a file", call("Ingest", {}, file(FilePlace::home)), "Daaa"},
                      Row{"Ingest a key", call("Ingest", {}, file(FilePlace::never)), "dddd"}));

INSTANTIATE_TEST_SUITE_P(
    Others, PermissionWithAPerson,
    ::testing::Values(Row{"Bash", call("Bash", {}, {.command = "ls"}), "Daaa"},
                      Row{"Bash with network", call("Bash", {}, {.command = "ls", .needs_network = true}), "DDaa"},
                      Row{"a shell action", of_kind(ToolKind::shell_action), "Daaa"},
                      Row{"an http action", of_kind(ToolKind::http_action), "DDaa"},
                      Row{"an mcp action", of_kind(ToolKind::mcp_action), "DDaa"},
                      Row{"a tool of an integration", of_kind(ToolKind::integration), "DDaa"},
                      Row{"a prompt action", of_kind(ToolKind::prompt_action), "aaaa"},
                      Row{"WebFetch", call("WebFetch", {}, {.host = "a.b"}), "DDaa"},
                      Row{"WebFetch of a named URL", call("WebFetch", {}, {.host = "a.b", .url_was_named = true}),
                          "aaaa"},
                      Row{"Remember", call("Remember"), "Daaa"}, Row{"RunJob", call("RunJob"), "Daaa"},
                      Row{"Delegate", call("Delegate"), "Daaa"}, Row{"AskUser", call("AskUser"), "aaaa"},
                      Row{"CreateExtension", call("CreateExtension"), "SSaa"},
                      Row{"UpdateExtension of the own", call("UpdateExtension", {}, {.record_is_own = true}), "SSaa"},
                      Row{"UpdateExtension of another's", call("UpdateExtension"), "ssss"},
                      Row{"a tool that does not exist", call("Fly"), "dddd"}));

GrantedPatterns granted(std::string tool, std::string pattern) {
  return std::make_shared<const std::vector<GrantedPattern>>(
      std::vector{GrantedPattern{std::move(tool), std::move(pattern)}});
}

TEST(PermissionFor, AYesGivesTheRightsOfTheLowestStageThatAllowsTheCall) {
  auto request = call("Bash", Stage::apprentice, {.command = "ls"});
  request.approved = request.target;
  EXPECT_EQ(permission_for(request).verdict, PermissionVerdict::allowed);
  EXPECT_FALSE(permission_for(request).network);
  request.target.needs_network = true;
  EXPECT_EQ(permission_for(request).verdict, PermissionVerdict::denied) << "that was not asked";
  request.approved = request.target;
  EXPECT_TRUE(permission_for(request).network);
  auto made = call("CreateExtension", Stage::apprentice);
  made.approved = made.target;
  EXPECT_EQ(permission_for(made).verdict, PermissionVerdict::allowed);
  EXPECT_TRUE(permission_for(made).disables_record);
}

TEST(PermissionFor, AYesIsForItsTargetAlone) {
  auto request = call("Write", Stage::apprentice, file(FilePlace::project));
  request.approved = request.target;
  EXPECT_EQ(permission_for(request).verdict, PermissionVerdict::allowed);
  request.target.path = "/p/b.txt";
  EXPECT_EQ(permission_for(request).verdict, PermissionVerdict::staged);
  request.target = file(FilePlace::never);
  EXPECT_EQ(permission_for(request).verdict, PermissionVerdict::denied);
}

TEST(PermissionFor, AYesToACommandOpensNoHost) {
  for (auto request : {call("Bash"), of_kind(ToolKind::shell_action), of_kind(ToolKind::program)}) {
    for (const auto stage : {Stage::apprentice, Stage::operating}) {
      request.stage = stage;
      request.may_ask = true;
      request.target = {.command = "curl a.b"};
      request.approved = request.target;
      request.target.host = "a.b:443";
      EXPECT_EQ(permission_for(request).verdict, PermissionVerdict::ask) << request.tool;
      request.approved = request.target;
      EXPECT_EQ(permission_for(request).verdict, PermissionVerdict::allowed) << request.tool;
      request.target.host = "evil.example:443";
      EXPECT_EQ(permission_for(request).verdict, PermissionVerdict::ask) << request.tool;
    }
  }
}

TEST(Grants, ForAShellActionOpenNoHost) {
  auto action = of_kind(ToolKind::shell_action);
  action.stage = Stage::apprentice;
  action.may_ask = true;
  action.target.command = "curl a.b";
  EXPECT_EQ(grant_pattern(action), "lookup");
  action.grants = granted("lookup", "lookup");
  EXPECT_EQ(permission_for(action).verdict, PermissionVerdict::allowed);
  action.target.host = "a.b:443";
  EXPECT_EQ(grant_pattern(action), "(host) a.b:443");
  EXPECT_EQ(permission_for(action).verdict, PermissionVerdict::ask);
  action.grants = granted("lookup", "(host) a.b:443");
  EXPECT_EQ(permission_for(action).verdict, PermissionVerdict::allowed);
  action.target.host = "evil.example:443";
  EXPECT_EQ(permission_for(action).verdict, PermissionVerdict::ask);
  action.target.host.reset();
  EXPECT_EQ(permission_for(action).verdict, PermissionVerdict::ask) << "a host is no command";
}

TEST(PermissionFor, TheOwnFileOfARunIsWrittenAtEveryStage) {
  for (const auto place : {FilePlace::home, FilePlace::library, FilePlace::project}) {
    auto request = call("Edit", Stage::apprentice, file(place, "/h/asset.md"));
    request.own_file = "/h/asset.md";
    EXPECT_EQ(permission_for(request).verdict, PermissionVerdict::allowed);
    request.target.path = "/h/asset.md.bak";
    EXPECT_NE(permission_for(request).verdict, PermissionVerdict::allowed);
    request.target.path = "/h/asset.md";
    request.tool = "Ingest";
    EXPECT_NE(permission_for(request).verdict, PermissionVerdict::allowed);
  }
  auto key = call("Write", Stage::sovereign, file(FilePlace::never, "/h/asset.md"));
  key.own_file = "/h/asset.md";
  EXPECT_EQ(permission_for(key).verdict, PermissionVerdict::denied);
}

TEST(Grants, MatchWhatTheyRemember) {
  const auto is_allowed = [](ToolRequest request, const GrantedPatterns& grants) {
    request.stage = Stage::apprentice;
    request.grants = grants;
    return permission_for(request).verdict == PermissionVerdict::allowed;
  };
  const auto bash = [](std::string command) { return call("Bash", {}, {.command = std::move(command)}); };
  EXPECT_TRUE(is_allowed(bash("git status -s"), granted("Bash", "git status *")));
  EXPECT_FALSE(is_allowed(bash("git -c core.pager=a status"), granted("Bash", "git status *")));
  EXPECT_FALSE(is_allowed(bash("git log"), granted("Bash", "git status *")));
  EXPECT_TRUE(is_allowed(bash("npm  run dev"), granted("Bash", "npm run dev")));
  EXPECT_FALSE(is_allowed(bash("npm run dev2"), granted("Bash", "npm run dev")));
  EXPECT_FALSE(is_allowed(bash("npm run dev; a"), granted("Bash", "npm run dev; a")));
  EXPECT_TRUE(is_allowed(call("Write", {}, file(FilePlace::project, "/p/x/y.txt")), granted("Write", "/p/")));
  EXPECT_FALSE(is_allowed(call("Write", {}, file(FilePlace::project, "/p2/y.txt")), granted("Write", "/p/")));
  EXPECT_FALSE(is_allowed(call("Write", {}, file(FilePlace::home, "/p/y.txt")), granted("Write", "/p/")));
  EXPECT_FALSE(is_allowed(call("Write", {}, file(FilePlace::own_soul, "/p/soul.md")), granted("Write", "/p/")));
  EXPECT_FALSE(is_allowed(call("Edit", {}, file(FilePlace::project, "/p/y.txt")), granted("Write", "/p/")));
  EXPECT_TRUE(is_allowed(call("WebFetch", {}, {.host = "pypi.org"}), granted("WebFetch", "pypi.org")));
  EXPECT_FALSE(is_allowed(call("WebFetch", {}, {.host = "pypi.org.evil.example"}), granted("WebFetch", "pypi.org")));
  EXPECT_TRUE(is_allowed(of_kind(ToolKind::integration), granted("lookup", "lookup")));
  EXPECT_FALSE(is_allowed(of_kind(ToolKind::integration), granted("Bash", "lookup")));
}

TEST(Grants, SayWhatTheyWouldRemember) {
  const auto bash = [](std::string command) { return call("Bash", {}, {.command = std::move(command)}); };
  EXPECT_EQ(grant_pattern(bash("git status -s")), "git status *");
  EXPECT_EQ(grant_pattern(bash("make 'a b'")), "make 'a b'");
  EXPECT_EQ(grant_pattern(bash("a | b")), std::nullopt);
  EXPECT_EQ(grant_pattern(bash("echo " + std::string(2000, 'x'))), std::nullopt);
  EXPECT_EQ(grant_pattern(call("Bash", {}, {.command = "ls", .needs_network = true})), std::nullopt);
  EXPECT_EQ(grant_pattern(call("Write", {}, file(FilePlace::project, "/p/x/y.txt"))), "/p/x/");
  EXPECT_EQ(grant_pattern(call("Write", {}, file(FilePlace::own_soul))), std::nullopt);
  EXPECT_EQ(grant_pattern(call("Ingest", {}, file(FilePlace::home, "/h/a.txt"))), "/h/");
  EXPECT_EQ(grant_pattern(call("WebFetch", {}, {.host = "a.b"})), "a.b");
  EXPECT_EQ(grant_pattern(call("Remember")), "Remember");
  EXPECT_EQ(grant_pattern(call("CreateExtension")), std::nullopt);
  EXPECT_EQ(grant_pattern(of_kind(ToolKind::http_action)), "lookup");
}

template <typename List>
auto one_of(std::mt19937& random, const List& list) {
  return *(list.begin() + static_cast<std::ptrdiff_t>(random() % list.size()));
}

using Choices = std::initializer_list<const char*>;

ToolTarget any_target(std::mt19937& random) {
  ToolTarget target;
  if (random() % 2 == 0) {
    target = file(one_of(random, std::initializer_list{FilePlace::project, FilePlace::workspace, FilePlace::own_soul,
                                                       FilePlace::own_directory, FilePlace::library, FilePlace::home,
                                                       FilePlace::guarded, FilePlace::hidden, FilePlace::outside,
                                                       FilePlace::never}),
                  one_of(random, Choices{"/p/a", "/p/b/c", "/h/.ssh/id_rsa"}));
  } else if (random() % 2 == 0) {
    target.host = one_of(random, Choices{"pypi.org", "evil.example", "127.0.0.1:80", "nas.lan"});
  }
  target.command = one_of(random, Choices{"", "git status", "git -c a=b status", "ls; rm -rf ."});
  target.needs_network = random() % 3 == 0;
  target.record_is_own = random() % 2 == 0;
  target.url_was_named = random() % 3 == 0;
  return target;
}

AgentLimits any_limits(std::mt19937& random, const std::string& tool) {
  AgentLimits limits;
  if (random() % 4 == 0) limits.stage = one_of(random, stages);
  if (random() % 4 == 0) limits.tools = {tool, "Read"};
  if (random() % 6 == 0) limits.tools.emplace();
  if (random() % 3 == 0)
    limits.hosts =
        one_of(random, std::vector<std::vector<std::string>>{
                           {"pypi.org"}, {"127.0.0.1", "nas.lan"}, {"*"}, {}, {"127.0.0.1:80", "*.example"}});
  if (random() % 4 == 0) limits.paths = {one_of(random, Choices{"/p/b", "/"})};
  if (random() % 4 == 0)
    limits.scopes = one_of(random, std::vector<std::set<ToolScope>>{{ToolScope::write, ToolScope::execute},
                                                                    {ToolScope::execute, ToolScope::network}});
  return limits;
}

/// A random call by an agent of that stage: any tool, target, mode and limits.
ToolRequest any_request(std::mt19937& random, Stage stage) {
  const auto own = own_tool_names();
  const auto number = random() % (own.size() + 2);
  auto request = call(number < own.size() ? std::string(own[number]) : number == own.size() ? "lookup" : "Fly", stage);
  if (request.tool == "lookup") {
    request.kind =
        one_of(random, std::initializer_list{ToolKind::prompt_action, ToolKind::builtin_action, ToolKind::shell_action,
                                             ToolKind::http_action, ToolKind::mcp_action, ToolKind::integration,
                                             ToolKind::program});
  }
  request.mode = random() % 4 == 0 ? ThreadMode::plan : ThreadMode::act;
  request.depth = static_cast<int>(random() % (max_run_depth + 2));
  request.target = any_target(random);
  request.limits = any_limits(random, request.tool);
  if (random() % 5 == 0) request.own_file = one_of(random, Choices{"/p/a", "/h/.ssh/id_rsa"});
  return request;
}

bool is_no_more_than(const Permission& granted, const Permission& most) {
  if (granted.verdict != PermissionVerdict::allowed) return true;
  return most.verdict == PermissionVerdict::allowed && (!granted.network || most.network) &&
         (!granted.asks_hosts || most.asks_hosts || most.network) && (!granted.names_host || most.names_host) &&
         (!granted.names_loopback || most.names_loopback) && (!most.disables_record || granted.disables_record);
}

/// The permission at the lowest stage that allows the call without asking; denied if no stage does.
Permission of_lowest_stage(ToolRequest request) {
  request.approved.reset();
  Permission found{.verdict = PermissionVerdict::denied};
  for (const auto stage : stages) {
    request.stage = stage;
    auto at_stage = request;
    at_stage.may_ask = false;
    at_stage.grants = nullptr;
    if (permission_for(at_stage).verdict != PermissionVerdict::allowed) continue;
    // With the grants again: they determine whether a person can be asked for hosts.
    return permission_for(request);
  }
  return found;
}

/// Whether an approval of `approved` covers the request: everything that the person saw is the same.
bool is_covered(const ToolTarget& approved, const ToolRequest& request) {
  const auto& target = request.target;
  const bool is_tool_of_others = request.kind == ToolKind::http_action || request.kind == ToolKind::mcp_action ||
                                 request.kind == ToolKind::integration;
  if (is_tool_of_others) return true;
  const bool is_same_call = approved.command == target.command && approved.needs_network == target.needs_network;
  if (approved.needs_network && target.host && !approved.host && is_same_call) return true;
  return is_same_call && approved.host == target.host && approved.path == target.path &&
         approved.place == target.place && approved.record_is_own == target.record_is_own;
}

/// People's decisions about an agent so far.
struct Decisions {
  Stage stage = Stage::apprentice;
  std::vector<GrantedPattern> grants{};
  std::optional<ToolTarget> approved{};

  void add_to(ToolRequest& request) const {
    request.approved = approved;
    request.grants = grants.empty() ? nullptr : std::make_shared<const std::vector<GrantedPattern>>(grants);
  }

  /// Randomly approves or grants the request, revokes grants and approvals, and changes the stage.
  void decide(std::mt19937& random, const ToolRequest& request) {
    if (random() % 3 == 0) approved = request.target;
    if (const auto pattern = grant_pattern(request); pattern && random() % 3 == 0)
      grants.push_back({request.tool, *pattern});
    if (grants.size() > 8 || (!grants.empty() && random() % 8 == 0)) grants.erase(grants.begin());
    if (random() % 5 == 0) approved.reset();
    if (random() % 10 == 0) stage = one_of(random, stages);
  }
};

TEST(PermissionFor, NoSequenceOfGrantsApprovalsAndDemotionsAllowsMoreThanSovereign) {
  std::mt19937 random(7);
  Decisions decisions;
  int by_persons = 0;
  for (int step = 0; step < 100'000; ++step) {
    auto request = any_request(random, decisions.stage);
    request.may_ask = random() % 2 == 0;
    decisions.add_to(request);
    const auto found = permission_for(request);
    auto most = request;
    most.stage = Stage::sovereign;
    // Sovereign is the highest stage, so people can add nothing to it, except that hosts can be asked for.
    most.approved.reset();
    const auto at_most = permission_for(most);
    const auto what = fmt::format("{} {} {}", request.tool, request.target.path, request.target.host.value_or(""));
    ASSERT_TRUE(is_no_more_than(found, at_most)) << what;
    if (found.verdict == PermissionVerdict::ask)
      ASSERT_EQ(at_most.verdict, PermissionVerdict::allowed) << "what could not be allowed is not asked: " << what;
    auto alone = most;
    alone.stage = request.stage;
    alone.grants = nullptr;
    alone.may_ask = false;
    if (found.verdict == PermissionVerdict::allowed && permission_for(alone).verdict != PermissionVerdict::allowed) {
      ++by_persons;
      ASSERT_TRUE(is_granted(request) || (request.approved && is_covered(*request.approved, request))) << what;
      ASSERT_TRUE(is_no_more_than(found, of_lowest_stage(request))) << what;
    }
    decisions.decide(random, request);
  }
  EXPECT_GT(by_persons, 300) << "the sequences reach what is tested";
}

TEST(PermissionFor, AYesGivesNoMoreThanTheLowestStageThatAllowsWhatWasShown) {
  std::mt19937 random(11);
  int asked = 0;
  for (int step = 0; step < 50'000; ++step) {
    auto request = any_request(random, one_of(random, stages));
    request.may_ask = true;
    if (permission_for(request).verdict != PermissionVerdict::ask) continue;
    ++asked;
    request.approved = request.target;
    const auto found = permission_for(request);
    ASSERT_EQ(found.verdict, PermissionVerdict::allowed) << request.tool;
    const auto lowest = of_lowest_stage(request);
    ASSERT_TRUE(is_no_more_than(found, lowest) && is_no_more_than(lowest, found)) << request.tool;
    request.target = any_target(random);
    const bool may_alone = permission_for([&] {
                             auto alone = request;
                             alone.approved.reset();
                             return alone;
                           }())
                               .verdict == PermissionVerdict::allowed;
    if (permission_for(request).verdict == PermissionVerdict::allowed && !may_alone)
      ASSERT_TRUE(is_covered(*request.approved, request)) << request.tool;
  }
  EXPECT_GT(asked, 1'000);
}

TEST(IsOffered, IncludesToolsThatAPersonAllowsOrCouldAllow) {
  auto bash = call("Bash", Stage::apprentice);
  bash.may_ask = true;
  EXPECT_TRUE(is_offered(bash)) << "somebody could allow it";
  bash.limits.stage = Stage::apprentice;
  EXPECT_FALSE(is_offered(bash));
  bash = call("Bash", Stage::apprentice);
  bash.grants = granted("Bash", "ls *");
  EXPECT_TRUE(is_offered(bash));
  bash.grants = granted("Write", "/p/");
  EXPECT_FALSE(is_offered(bash));
}

}  // namespace
}  // namespace agw
