#pragma once

// What the parts of `file_tools` share.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/files/file_tools.hpp"
#include "tools/opened_path.hpp"

namespace agw {

/// Read, Glob and Grep.
std::vector<Tool> read_tools(const FileToolsDependencies& needs);
/// Write and Edit.
std::vector<Tool> write_tools(const FileToolsDependencies& needs);

/// The JSON Schema of the path of a file.
inline constexpr std::string_view path_schema =
    R"({"type": "string", "description": "Absolute, or relative to the working directory (the project, else the agent's workspace); ~ is the home directory."})";

/// Returns a tool that authorizes each path of a call itself. `schema` is JSON.
Tool file_tool(std::string name, std::string description, std::string_view schema, ToolEffect effect,
               std::function<Task<ToolOutcome>(const ToolCall&)> call);

bool is_allowed(const Permission& permission);

/// Returns the absolute path that a call names; without one, the working directory.
std::filesystem::path named_path(const ToolCall& call);

/// Opens a path for reading. If there is no project, first creates the agent's workspace, where relative paths start.
Task<OpenedPath> opened(BlockingPool& blocking, const ToolCall& call, std::filesystem::path path);

/// If the person's editor has the project file open, returns the editor's text.
Task<std::optional<std::string>> text_in_editor(const ToolCall& call, const OpenedPath& file);

}  // namespace agw
