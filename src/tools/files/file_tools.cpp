// Each call of a file tool handles a path in the same steps: resolve it, authorize it (`authorize`), open it, authorize
// the file that was actually opened, and only then access it. A path is never trusted, because a command of an agent
// can redirect it between two steps.

#include "tools/files/file_tools.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "base/json/json_values.hpp"
#include "tools/files/file_calls.hpp"
#include "tools/input.hpp"

namespace agw {

namespace {

constexpr auto bash_schema = R"({
  "type": "object",
  "properties": {
    "command": {"type": "string", "description": "For bash -c."},
    "network": {"type": "boolean", "description": "The command requires the network. Set it only if necessary."},
    "timeout_s": {"type": "integer", "description": "The time limit in seconds; default 120.", "minimum": 1, "maximum": 600},
    "description": {"type": "string", "description": "The purpose of the command in a few words, for the person who reads along."}
  },
  "required": ["command"],
  "additionalProperties": false
})";

Task<ToolOutcome> bash(Shell& shell, const ToolCall& call) {
  const auto time = number_input(call.input, "timeout_s", 120, 1, Shell::max_time.count());
  co_return co_await shell.run(call, {.command = text_input(call.input, "command"),
                                      .time = std::chrono::seconds(time),
                                      .network = is_true(call.input, "network")});
}

Tool bash_tool(Shell& shell) {
  auto tool = file_tool(
      "Bash",
      "Runs a shell command in a sandbox, in the working directory, and shows its output and exit code. It can write "
      "the project and the agent's workspace; all its processes are ended afterwards. For reading, searching and "
      "changing files the other tools are better.",
      bash_schema, ToolEffect::executes, [&shell](const ToolCall& call) { return bash(shell, call); });
  // Allows for setting up the sandbox and for ending the command after its own limit.
  tool.limit = Shell::max_time + std::chrono::seconds(30);
  return tool;
}

}  // namespace

Tool file_tool(std::string name, std::string description, std::string_view schema, ToolEffect effect,
               std::function<Task<ToolOutcome>(const ToolCall&)> call) {
  return {.description = {.name = std::move(name),
                          .description = std::move(description),
                          .input_schema = *parse_json(schema)},
          .effect = effect,
          .authorizes_itself = true,
          .call = std::move(call)};
}

bool is_allowed(const Permission& permission) { return permission.verdict == Permission::Verdict::allowed; }

std::filesystem::path named_path(const ToolCall& call) {
  return absolute_path(text_input(call.input, "path", "."), call.run.roots);
}

Task<OpenedPath> opened(BlockingPool& blocking, const ToolCall& call, std::filesystem::path path) {
  co_return co_await blocking.run([path = std::move(path), roots = call.run.roots] {
    if (!roots.project) make_workspace(roots);
    return locate(path, roots);
  });
}

Task<std::optional<std::string>> text_in_editor(const ToolCall& call, const OpenedPath& file) {
  const bool is_text_of_project = file.place == FilePlace::project && !file.problem && file.type == FileType::regular;
  if (!call.buffers || !is_text_of_project) co_return std::nullopt;
  co_return co_await call.buffers->read(file.path.string(), call.stop);
}

std::vector<Tool> file_tools(const FileToolsDependencies& needs) {
  auto tools = read_tools(needs);
  std::ranges::move(write_tools(needs), std::back_inserter(tools));
  tools.push_back(bash_tool(needs.shell));
  return tools;
}

}  // namespace agw
