#include "cli/acp/tool_call_update.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "base/json/json_values.hpp"
#include "base/printable.hpp"
#include "base/text/utf8.hpp"

namespace agw::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_title = 120;
constexpr std::uintmax_t max_shown_file = 1 << 20;

constexpr std::array<std::pair<std::string_view, std::string_view>, 16> kinds{{{"Read", "read"},
                                                                               {"ReadSkill", "read"},
                                                                               {"Write", "edit"},
                                                                               {"Edit", "edit"},
                                                                               {"Glob", "search"},
                                                                               {"Grep", "search"},
                                                                               {"SearchTurns", "search"},
                                                                               {"SearchKnowledge", "search"},
                                                                               {"FindTools", "search"},
                                                                               {"WebSearch", "search"},
                                                                               {"Bash", "execute"},
                                                                               {"RunJob", "execute"},
                                                                               {"WebFetch", "fetch"},
                                                                               {"Ingest", "fetch"},
                                                                               {"Tasks", "think"},
                                                                               {"Delegate", "think"}}};

/// Members of a tool's input that describe the call, the most informative first.
constexpr std::array<std::string_view, 8> telling{"command", "pattern",  "path",  "url",
                                                  "query",   "question", "agent", "name"};

std::string title_of(const std::string& tool, const json::object& input) {
  for (const auto name : telling) {
    const auto value = string_or_empty(input, name);
    if (value.empty()) continue;
    return one_line(tool == "Bash" ? value : tool + ' ' + value, max_title);
  }
  return one_line(tool, max_title);
}

/// The content of a file before a call writes it; nullopt if it cannot be shown, or was already written.
std::optional<std::string> current_text(const fs::path& file, const json::object& input) {
  std::error_code error;
  if (!fs::is_regular_file(file, error) || fs::file_size(file, error) > max_shown_file || error) return std::nullopt;
  std::ifstream opened(file, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(opened), {});
  if (!opened || !is_utf8(text) || text == string_or_empty(input, "content")) return std::nullopt;
  return text;
}

json::array diff_of(const std::string& tool, const json::object& input, const fs::path& file,
                    const std::string* current) {
  json::object diff{{"type", "diff"}, {"path", to_utf8(file.string())}};
  if (tool == "Edit") {
    diff["oldText"] = string_or_empty(input, "old_string");
    diff["newText"] = string_or_empty(input, "new_string");
  } else {
    diff["oldText"] = current ? json::value(to_utf8(*current)) : json::value(nullptr);
    diff["newText"] = string_or_empty(input, "content");
  }
  return {std::move(diff)};
}

/// The first line that a call concerns, or 0.
std::int64_t line_of(const json::object& input) {
  const auto* offset = input.if_contains("offset");
  return offset && offset->is_int64() && offset->get_int64() > 0 ? offset->get_int64() : 0;
}

}  // namespace

std::string_view tool_kind(std::string_view tool) {
  const auto* found = std::ranges::find(kinds, tool, [](const auto& kind) { return kind.first; });
  return found == kinds.end() ? "other" : found->second;
}

fs::path file_of_call(const json::object& input, const fs::path& directory) {
  const auto path = string_or_empty(input, "path");
  // Only the gateway can resolve `~`.
  if (path.empty() || path.starts_with('~') || path.find('\0') != path.npos) return {};
  return (directory / path).lexically_normal();
}

json::object tool_call_members(const std::string& tool, const json::object& input, const fs::path& directory,
                               const std::string* current) {
  json::object members{
      {"title", title_of(tool, input)}, {"name", tool}, {"kind", tool_kind(tool)}, {"rawInput", input}};
  const auto file = file_of_call(input, directory);
  if (file.empty()) return members;
  json::object location{{"path", to_utf8(file.string())}};
  if (const auto line = line_of(input); line > 0 && line <= UINT32_MAX) location["line"] = line;
  members["locations"] = json::array{std::move(location)};
  if (tool == "Write" || tool == "Edit") members["content"] = diff_of(tool, input, file, current);
  return members;
}

json::object next_call_members(const std::string& tool, const json::object& input, const fs::path& directory) {
  const auto file = tool == "Write" ? file_of_call(input, directory) : fs::path();
  const auto current = file.empty() ? std::nullopt : current_text(file, input);
  return tool_call_members(tool, input, directory, current ? &*current : nullptr);
}

json::object tool_result_members(const std::string& output, bool is_error, bool omits_content) {
  json::object members{{"status", is_error ? "failed" : "completed"}, {"rawOutput", output}};
  if (!omits_content || is_error) members["content"] = json::array{text_content(output)};
  return members;
}

json::object text_block(std::string_view text) { return {{"type", "text"}, {"text", text}}; }

json::object text_content(std::string_view text) { return {{"type", "content"}, {"content", text_block(text)}}; }

}  // namespace agw::cli
