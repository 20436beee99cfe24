#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "testing/run.hpp"
#include "testing/scratch_directory.hpp"
#include "tools/files/file_tools.hpp"
#include "tools/search/grep.hpp"

namespace agw::testing {

inline void write_file(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A home with a project, a data directory and private files, for calls of the tools.
class ToolsFixture {
public:
  explicit ToolsFixture(std::optional<std::string> ripgrep = find_ripgrep()) : ripgrep_(std::move(ripgrep)) {
    write_file(home / ".ssh/id_ed25519", "secret");
    write_file(home / ".bashrc", "secret");
    write_file(home / "letters/a.txt", "a letter");
    write_file(data / ".gateway-token", "secret");
    write_file(data / "agents/other/workspace/a.txt", "secret");
    write_file(data / "agents/helper/soul.md", "kind");
    write_file(project / "main.c", "int main() {\n  return 0;\n}\n");
  }

  /// The permission for a target; by default that of an operator.
  std::function<Permission(const ToolTarget&)> authorize_read = [](const ToolTarget& target) {
    return !target.place || is_readable(*target.place) ? Permission{} : denied();
  };
  std::function<Permission(const ToolTarget&)> authorize_write = [](const ToolTarget& target) {
    return target.place == FilePlace::project || target.place == FilePlace::workspace ? Permission{} : denied();
  };
  std::vector<StagedChange> staged;

  static Permission denied() {
    return {.verdict = Permission::Verdict::denied, .reason = "permission denied: ask a person"};
  }
  static Permission stage_it(const ToolTarget&) { return {.verdict = Permission::Verdict::staged}; }

  /// The result as the model reads it; an error begins with `error: `.
  std::string call(const std::string& name, json::object input) {
    std::string output;
    run([&](Loop& loop) -> Task<> { output = co_await call_on(loop, name, std::move(input)); });
    return output;
  }

  Task<std::string> call_on(Loop& loop, const std::string& name, json::object input) {
    BlockingPool blocking(loop);
    Shell shell(loop, blocking, sandbox, [this](std::string_view) { return limits; });
    const auto tools =
        file_tools({.loop = loop, .blocking = blocking, .shell = shell, .ripgrep = ripgrep_, .recorder = recorder});
    const auto& tool = *std::ranges::find(tools, name, [](const Tool& each) { return each.description.name; });
    const ToolRun tool_run{.agent_name = "helper", .roots = roots};
    const ToolCall tool_call{.input = std::move(input),
                             .run = tool_run,
                             .stop = stop,
                             .authorize = tool.effect == ToolEffect::writes ? authorize_write : authorize_read,
                             .stage = [this](StagedChange change) -> Task<std::string> {
                               staged.push_back(std::move(change));
                               co_return "helper/2026-01-02/note";
                             }};
    std::string text;
    try {
      const auto outcome = co_await tool.call(tool_call);
      text = (outcome.is_error ? "error: " : "") + outcome.output;
    } catch (const std::exception& error) {
      text = std::string("error: ") + error.what();
    }
    co_return text;
  }

  ScratchDirectory scratch;
  std::filesystem::path home = scratch.path() / "home";
  std::filesystem::path data = home / ".agent-gateway";
  std::filesystem::path project = home / "work/site";
  std::filesystem::path workspace = data / "agents/helper/workspace";
  FileRoots roots{.home = home, .data_directory = data, .agent = "helper", .project = project};
  Sandbox sandbox{{.home = home, .data_directory = data}};
  ShellLimits limits;
  StopSource stop;
  FileRecorder* recorder = nullptr;

private:
  std::optional<std::string> ripgrep_;
};

}  // namespace agw::testing
