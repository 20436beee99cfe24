#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "features/permissions/service.hpp"
#include "features/permissions/testing.hpp"

namespace agw {
namespace {

using testing::call;
using testing::file;
using testing::of_kind;
using testing::stages;
using PermissionVerdict = Permission::Verdict;

/// The columns of the tables.
const std::vector<std::pair<const char*, ToolTarget>>& targets() {
  static const std::vector<std::pair<const char*, ToolTarget>> all{
      {"nothing", {}},
      {"the project", file(FilePlace::project)},
      {"the workspace", file(FilePlace::workspace)},
      {"the own soul", file(FilePlace::own_soul)},
      {"the own directory", file(FilePlace::own_directory)},
      {"the library", file(FilePlace::library)},
      {"home", file(FilePlace::home)},
      {"a guarded file", file(FilePlace::guarded)},
      {"a hidden file", file(FilePlace::hidden)},
      {"outside", file(FilePlace::outside)},
      {"a closed file", file(FilePlace::never)},
      {"a host", {.host = "a.b"}},
      {"a host that was named", {.host = "a.b", .url_was_named = true}},
      {"a command", {.command = "ls"}},
      {"a command with network", {.command = "ls", .needs_network = true}},
      {"a host of a command", {.host = "a.b:443", .command = "curl a.b"}},
      {"an own record", {.record_is_own = true}},
  };
  return all;
}

/// For each target, or once for all, the verdicts of the stages, apprentice first: a allowed, s staged, d denied; S
/// instead of s and D instead of d if a person is asked when one can be reached.
using Cells = std::vector<const char*>;

const Cells always_cells{"aaaa"};
const Cells operator_cells{"Daaa"};
const Cells trusted_cells{"DDaa"};

// nothing, project, workspace, own soul, own directory, library, home, guarded, hidden, outside, closed,
// host, named host, command, with network, host of a command, own record
const Cells reads_cells{"aaaa", "aaaa", "aaaa", "aaaa", "aaaa", "aaaa", "aaaa", "aaaa", "dddd",
                        "dddd", "dddd", "aaaa", "aaaa", "aaaa", "aaaa", "aaaa", "aaaa"};
const Cells writes_cells{"sddd", "Saaa", "Saaa", "SDDa", "sddd", "sddd", "sddd", "dddd", "dddd",
                         "dddd", "dddd", "sddd", "sddd", "sddd", "sddd", "sddd", "sddd"};
const Cells ingests_cells{"Daaa", "Daaa", "Daaa", "Daaa", "Daaa", "Daaa", "Daaa", "Daaa", "dddd",
                          "dddd", "dddd", "DDaa", "Daaa", "Daaa", "Daaa", "DDaa", "Daaa"};
const Cells fetches_cells{"DDaa", "DDaa", "DDaa", "DDaa", "DDaa", "DDaa", "DDaa", "DDaa", "DDaa",
                          "DDaa", "DDaa", "DDaa", "aaaa", "DDaa", "DDaa", "DDaa", "DDaa"};
const Cells executes_cells{"Daaa", "Daaa", "Daaa", "Daaa", "Daaa", "Daaa", "Daaa", "Daaa", "Daaa",
                           "Daaa", "Daaa", "DDaa", "DDaa", "Daaa", "DDaa", "DDaa", "Daaa"};
const Cells creates_cells{"SSaa"};
const Cells updates_cells{"ssss", "ssss", "ssss", "ssss", "ssss", "ssss", "ssss", "ssss", "ssss",
                          "ssss", "ssss", "ssss", "ssss", "ssss", "ssss", "ssss", "SSaa"};

struct ToolCells {
  Cells act;
  bool is_in_plan = false;
};

const std::map<std::string_view, ToolCells>& own_tools() {
  static const std::map<std::string_view, ToolCells> all{
      {"AskUser", {always_cells}},
      {"Bash", {executes_cells}},
      {"CreateExtension", {creates_cells}},
      {"Delegate", {operator_cells}},
      {"Edit", {writes_cells}},
      {"FindTools", {always_cells}},
      {"Glob", {reads_cells, true}},
      {"Grep", {reads_cells, true}},
      {"Ingest", {ingests_cells}},
      {"ListExtensions", {always_cells}},
      {"Propose", {always_cells}},
      {"Read", {reads_cells, true}},
      {"ReadSkill", {always_cells}},
      {"Remember", {operator_cells}},
      {"RunJob", {operator_cells}},
      {"SearchKnowledge", {always_cells}},
      {"SearchTurns", {always_cells}},
      {"SendFile", {reads_cells}},
      {"Tasks", {always_cells}},
      {"UpdateExtension", {updates_cells}},
      {"WebFetch", {fetches_cells, true}},
      {"WebSearch", {always_cells, true}},
      {"Write", {writes_cells}},
  };
  return all;
}

const std::map<ToolKind, Cells>& other_kinds() {
  static const std::map<ToolKind, Cells> all{
      {ToolKind::prompt_action, always_cells},  {ToolKind::builtin_action, always_cells},
      {ToolKind::shell_action, executes_cells}, {ToolKind::http_action, trusted_cells},
      {ToolKind::mcp_action, trusted_cells},    {ToolKind::integration, trusted_cells},
      {ToolKind::program, trusted_cells},
  };
  return all;
}

char letter(const Permission& permission) {
  switch (permission.verdict) {
    case PermissionVerdict::allowed:
      return 'a';
    case PermissionVerdict::staged:
      return 's';
    case PermissionVerdict::denied:
      return 'd';
    case PermissionVerdict::ask:
      return permission.otherwise == PermissionVerdict::staged ? 'S' : 'D';
  }
  return '?';
}

std::string letters_of(ToolRequest request) {
  std::string found;
  for (const auto stage : stages) {
    request.stage = stage;
    found += letter(permission_for(request));
  }
  return found;
}

std::string without_asking(std::string text) {
  for (auto& each : text) each = each == 'D' ? 'd' : each == 'S' ? 's' : each;
  return text;
}

void expect_cells(ToolRequest request, const ToolCells& cells) {
  for (std::size_t column = 0; column < targets().size(); ++column) {
    const auto& [name, target] = targets()[column];
    const std::string in_act = cells.act.size() == 1 ? cells.act.front() : cells.act.at(column);
    request.target = target;
    for (const auto mode : {ThreadMode::act, ThreadMode::plan}) {
      const auto expected = mode == ThreadMode::act || cells.is_in_plan ? in_act : "dddd";
      request.mode = mode;
      request.may_ask = true;
      EXPECT_EQ(letters_of(request), expected) << request.tool << ", " << name << ", " << to_text(mode);
      request.may_ask = false;
      EXPECT_EQ(letters_of(request), without_asking(expected))
          << request.tool << ", " << name << ", " << to_text(mode) << ", nobody there";
    }
  }
}

TEST(PermissionTable, HasEachOwnToolWithEachTargetInEachModeAtEachStage) {
  for (const auto tool : own_tool_names()) {
    const auto cells = own_tools().find(tool);
    ASSERT_NE(cells, own_tools().end()) << tool << " is missing in this test";
    expect_cells(call(std::string(tool)), cells->second);
  }
  EXPECT_EQ(own_tools().size(), own_tool_names().size());
}

TEST(PermissionTable, HasEachOtherKindWithEachTargetInEachModeAtEachStage) {
  for (const auto& [kind, cells] : other_kinds()) expect_cells(of_kind(kind), {cells});
}

}  // namespace
}  // namespace agw
