#include <random>

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
using Verdict = Permission::Verdict;

/// With somebody there, one letter a stage: allowed, asked where it is else staged (S) or denied (D), staged, denied.
std::string letters_with_somebody(ToolRequest request) {
  std::string found;
  for (const auto stage : stages) {
    request.stage = stage;
    request.may_ask = true;
    const auto permission = permission_for(request);
    request.may_ask = false;
    const auto without = permission_for(request);
    switch (permission.verdict) {
      case Verdict::allowed:
        found += 'a';
        break;
      case Verdict::staged:
        found += 's';
        break;
      case Verdict::denied:
        found += 'd';
        break;
      case Verdict::ask:
        found += permission.otherwise == Verdict::staged ? 'S' : 'D';
        EXPECT_EQ(permission.otherwise, without.verdict);
        EXPECT_THAT(permission.rule, HasSubstr("needs an agent of stage"));
        EXPECT_THAT(permission.reason, StartsWith("permission denied: "));
        break;
    }
    EXPECT_TRUE(permission.verdict == Verdict::ask || permission.verdict == without.verdict);
  }
  return found;
}

class PermissionWithSomebody : public ::testing::TestWithParam<Row> {};

TEST_P(PermissionWithSomebody, AsksForWhatOnlyTheStageForbids) {
  EXPECT_EQ(letters_with_somebody(GetParam().request), GetParam().by_stage);
  auto planned = GetParam().request;
  planned.mode = ThreadMode::plan;
  EXPECT_EQ(letters_with_somebody(planned).find_first_of("SD") == std::string::npos || planned.tool == "WebFetch", true)
      << "mode plan asks only for hosts";
  auto limited = GetParam().request;
  limited.limits.tools.emplace();
  EXPECT_EQ(letters_with_somebody(limited), "dddd");
  limited.limits = {.stage = Stage::apprentice};
  EXPECT_EQ(letters_with_somebody(limited).find_first_of("SD"), std::string::npos) << "the capability's stage";
}

INSTANTIATE_TEST_SUITE_P(
    Files, PermissionWithSomebody,
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
    Others, PermissionWithSomebody,
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
  EXPECT_EQ(permission_for(request).verdict, Verdict::allowed);
  EXPECT_FALSE(permission_for(request).network);
  request.target.needs_network = true;
  EXPECT_EQ(permission_for(request).verdict, Verdict::denied) << "that was not asked";
  request.approved = request.target;
  EXPECT_TRUE(permission_for(request).network);
  auto made = call("CreateExtension", Stage::apprentice);
  made.approved = made.target;
  EXPECT_EQ(permission_for(made).verdict, Verdict::allowed);
  EXPECT_TRUE(permission_for(made).disables_record);
}

TEST(PermissionFor, AYesIsForItsTargetAlone) {
  auto request = call("Write", Stage::apprentice, file(FilePlace::project));
  request.approved = request.target;
  EXPECT_EQ(permission_for(request).verdict, Verdict::allowed);
  request.target.path = "/p/b.txt";
  EXPECT_EQ(permission_for(request).verdict, Verdict::staged);
  request.target = file(FilePlace::never);
  EXPECT_EQ(permission_for(request).verdict, Verdict::denied);
}

TEST(PermissionFor, TheOwnFileOfARunIsWrittenAtEveryStage) {
  for (const auto place : {FilePlace::home, FilePlace::library, FilePlace::project}) {
    auto request = call("Edit", Stage::apprentice, file(place, "/h/asset.md"));
    request.own_file = "/h/asset.md";
    EXPECT_EQ(permission_for(request).verdict, Verdict::allowed);
    request.target.path = "/h/asset.md.bak";
    EXPECT_NE(permission_for(request).verdict, Verdict::allowed);
    request.target.path = "/h/asset.md";
    request.tool = "Ingest";
    EXPECT_NE(permission_for(request).verdict, Verdict::allowed);
  }
  auto key = call("Write", Stage::sovereign, file(FilePlace::never, "/h/asset.md"));
  key.own_file = "/h/asset.md";
  EXPECT_EQ(permission_for(key).verdict, Verdict::denied);
}

TEST(Grants, MatchWhatTheyRemember) {
  const auto is_allowed = [](ToolRequest request, const GrantedPatterns& grants) {
    request.stage = Stage::apprentice;
    request.grants = grants;
    return permission_for(request).verdict == Verdict::allowed;
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

/// A call of any tool with any target, in any mode, with any limits.
ToolRequest any_request(std::mt19937& random) {
  const auto one_of = [&](auto list) { return *(list.begin() + static_cast<int>(random() % list.size())); };
  using Texts = std::initializer_list<const char*>;
  auto request = call(one_of(Texts{"Read", "Write", "Edit", "Bash", "WebFetch", "Ingest", "Remember", "RunJob",
                                   "CreateExtension", "UpdateExtension", "lookup", "Fly"}));
  request.kind =
      request.tool == "lookup"
          ? one_of(std::initializer_list{ToolKind::shell_action, ToolKind::http_action, ToolKind::integration})
          : ToolKind::own;
  request.stage = one_of(stages);
  request.mode = random() % 4 == 0 ? ThreadMode::plan : ThreadMode::act;
  if (random() % 2 == 0) {
    request.target = file(
        one_of(std::initializer_list{FilePlace::project, FilePlace::workspace, FilePlace::own_soul, FilePlace::home,
                                     FilePlace::guarded, FilePlace::hidden, FilePlace::outside, FilePlace::never}),
        one_of(Texts{"/p/a", "/p/b/c", "/h/.ssh/id_rsa"}));
  } else if (random() % 2 == 0) {
    request.target.host = one_of(Texts{"pypi.org", "evil.example"});
  }
  request.target.command = one_of(Texts{"", "git status", "git -c a=b status", "ls; rm -rf ."});
  request.target.needs_network = random() % 3 == 0;
  request.target.record_is_own = random() % 2 == 0;
  if (random() % 4 == 0) request.limits.stage = one_of(stages);
  if (random() % 4 == 0) request.limits.tools = {request.tool, "Read"};
  if (random() % 6 == 0) request.limits.tools.emplace();
  if (random() % 4 == 0) request.limits.hosts = {"pypi.org"};
  if (random() % 4 == 0) request.limits.paths = {"/p/b"};
  if (random() % 4 == 0) request.limits.scopes = {ToolScope::write, ToolScope::execute};
  return request;
}

bool is_no_more_than(const Permission& granted, const Permission& most) {
  if (granted.verdict != Verdict::allowed) return true;
  return most.verdict == Verdict::allowed && (!granted.network || most.network) &&
         (!most.disables_record || granted.disables_record);
}

TEST(PermissionFor, NoSequenceOfGrantsApprovalsAndDemotionsAllowsMoreThanSovereign) {
  std::mt19937 random(7);
  std::vector<GrantedPattern> grants;
  std::optional<ToolTarget> approved;
  for (int step = 0; step < 50'000; ++step) {
    auto request = any_request(random);
    auto most = request;
    most.stage = Stage::sovereign;
    request.may_ask = random() % 2 == 0;
    request.approved = approved;
    request.grants = std::make_shared<const std::vector<GrantedPattern>>(grants);
    const auto found = permission_for(request);
    const auto at_most = permission_for(most);
    ASSERT_TRUE(is_no_more_than(found, at_most)) << request.tool << ' ' << request.target.path;
    if (found.verdict == Verdict::ask) {
      ASSERT_EQ(at_most.verdict, Verdict::allowed) << "what could not be allowed is not asked";
    }
    // The person says yes to whatever it is, now and then for longer, and takes grants back.
    if (random() % 3 == 0) approved = request.target;
    if (const auto pattern = grant_pattern(request); pattern && random() % 3 == 0)
      grants.push_back({request.tool, *pattern});
    if (grants.size() > 8 || (!grants.empty() && random() % 8 == 0)) grants.erase(grants.begin());
    if (random() % 5 == 0) approved.reset();
  }
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
