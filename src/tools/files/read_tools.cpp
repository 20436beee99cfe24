// Read, Glob and Grep.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "api/error.hpp"
#include "base/json/json_values.hpp"
#include "base/text/utf8.hpp"
#include "tools/files/file_calls.hpp"
#include "tools/files/file_text.hpp"
#include "tools/input.hpp"
#include "tools/search/glob.hpp"
#include "tools/search/grep.hpp"

namespace agw {

namespace {

constexpr std::size_t max_paths = 1000;
constexpr std::size_t max_text_of_all = 100'000;
constexpr std::int64_t max_lines = 5000;

std::string read_schema() {
  return std::string(R"({
  "type": "object",
  "properties": {
    "path": )")
      .append(path_schema)
      .append(R"(,
    "offset": {"type": "integer", "description": "The first line to show, counted from 1.", "minimum": 1, "maximum": 1099511627776},
    "limit": {"type": "integer", "description": "The number of lines to show; default 2000.", "minimum": 1, "maximum": 1000000}
  },
  "required": ["path"],
  "additionalProperties": false
})");
}

constexpr auto glob_schema = R"({
  "type": "object",
  "properties": {
    "pattern": {"type": "string", "description": "* and ? match within a name, ** matches across directories, {a,b} matches either."},
    "path": {"type": "string", "description": "The directory to start in; default: the working directory."}
  },
  "required": ["pattern"],
  "additionalProperties": false
})";

constexpr auto grep_schema = R"({
  "type": "object",
  "properties": {
    "pattern": {"type": "string", "description": "A regular expression, without look-around and back-references."},
    "path": {"type": "string", "description": "The file or directory to search; default: the working directory."},
    "glob": {"type": "string", "description": "Search only files that match, such as *.cpp; with a leading !, only the others."},
    "ignore_case": {"type": "boolean", "description": "Ignore upper and lower case."},
    "context": {"type": "integer", "description": "How many lines to show around each match.", "minimum": 0, "maximum": 100},
    "max": {"type": "integer", "description": "The maximum number of matching lines; default 500.", "minimum": 1, "maximum": 5000}
  },
  "required": ["pattern"],
  "additionalProperties": false
})";

Task<ToolOutcome> read(BlockingPool& blocking, const ToolCall& call) {
  const auto file = co_await opened(blocking, call, named_path(call));
  const auto permission = call.authorize(target_of(file));
  if (!is_allowed(permission)) co_return refusal(permission);
  const LineRange range{.first = number_input(call.input, "offset", 1, 1, std::int64_t{1} << 40),
                        .count = number_input(call.input, "limit", 2000, 1, 2000)};
  if (auto text = co_await text_in_editor(call, file)) {
    co_return ToolOutcome{
        co_await blocking.run([text = std::move(*text), range] { return numbered_lines(text, range); })};
  }
  const CrossThreadStop stop(call.stop);
  co_return ToolOutcome{co_await blocking.run([file, range, roots = call.run.roots, stopped = stop.flag()] {
    return file.type == FileType::directory ? listed_directory(file, roots) : numbered_lines(file, range, stopped);
  })};
}

std::string shown_paths(const GlobFound& found, const FileRoots& roots) {
  if (found.paths.empty()) return "[nothing matches]\n";
  std::string text;
  for (const auto& path : found.paths) text += to_utf8(shown_path(path, roots)) + "\n";
  if (found.more) text += fmt::format("[more than {} match: these are the newest]\n", max_paths);
  return text;
}

Task<ToolOutcome> glob(BlockingPool& blocking, const ToolCall& call) {
  const auto& roots = call.run.roots;
  const auto start = start_of_glob(named_path(call), text_input(call.input, "pattern"), roots);
  const auto directory = co_await opened(blocking, call, start.directory);
  const auto permission = call.authorize(target_of(directory));
  if (!is_allowed(permission)) co_return refusal(permission);
  const CrossThreadStop stop(call.stop);
  auto found = co_await blocking.run([directory, start, roots, stopped = stop.flag()] {
    return find_matching(directory, start.pattern, max_paths, roots, stopped);
  });
  std::erase_if(found.paths, [&](const auto& path) {
    return !is_allowed(call.authorize({.place = place_of(path, roots), .path = path.string()}));
  });
  co_return ToolOutcome{shown_paths(found, roots)};
}

Task<GrepFound> search(const FileToolsDependencies& needs, const ToolCall& call, const OpenedPath& start,
                       const GrepQuery& query) {
  const CrossThreadStop stop(call.stop);
  std::optional<RulesAbove> rules;
  if (needs.ripgrep && start.type == FileType::directory && ripgrep_can(query)) {
    rules = co_await needs.blocking.run(
        [start, roots = call.run.roots, stopped = stop.flag()] { return rules_for_ripgrep(start, roots, stopped); });
  }
  if (rules) co_return co_await search_with_ripgrep(needs.loop, *needs.ripgrep, start, query, *rules, call.stop);
  co_return co_await needs.blocking.run([start, query, roots = call.run.roots, stopped = stop.flag()] {
    return search_by_walking(start, query, roots, stopped);
  });
}

/// Nothing matches what models write for other tools.
std::string_view hint_for(const GrepQuery& query) {
  if (query.pattern.find("\\|") != std::string::npos) return "; \\| is the character, | separates alternatives";
  const bool lists = query.glob.find_first_of(", ") != std::string::npos && query.glob.find('{') == std::string::npos;
  return lists ? "; several globs are written as {*.c,*.h}" : "";
}

std::string shown_matches(const std::vector<GrepExcerpt>& files, const ToolCall& call, const GrepQuery& query,
                          bool more) {
  std::string text;
  for (const auto& file : files) {
    if (!is_allowed(call.authorize(file.target))) continue;
    if (text.size() + file.text.size() > max_text_of_all) {
      text += file.text.substr(0, file.text.rfind('\n', max_text_of_all - text.size()) + 1);
      more = true;
      break;
    }
    text += file.text;
  }
  if (text.empty()) return fmt::format("[nothing matches{}]\n", hint_for(query));
  if (more) text += "[there are more matches: narrow the search by path, glob or pattern, or raise max]\n";
  return text;
}

Task<ToolOutcome> grep(const FileToolsDependencies& needs, const ToolCall& call) {
  const auto start = co_await opened(needs.blocking, call, named_path(call));
  const auto permission = call.authorize(target_of(start));
  if (!is_allowed(permission)) co_return refusal(permission);
  if (start.problem) throw BadRequest(fmt::format("{}: {}", start.path.string(), to_string(*start.problem)));
  const GrepQuery query{.pattern = text_input(call.input, "pattern"),
                        .glob = text_input(call.input, "glob"),
                        .ignore_case = is_true(call.input, "ignore_case"),
                        .max_lines = static_cast<std::size_t>(number_input(call.input, "max", 500, 1, max_lines))};
  const auto found = co_await search(needs, call, start, query);
  const auto context = number_input(call.input, "context", 0, 0, 100);
  const auto files = co_await needs.blocking.run(
      [start, found, context, roots = call.run.roots] { return read_matches(start, found.files, context, roots); });
  co_return ToolOutcome{shown_matches(files, call, query, found.more)};
}

}  // namespace

std::vector<Tool> read_tools(const FileToolsDependencies& needs) {
  return {
      file_tool(
          "Read",
          "Reads a text file and shows its lines with their numbers, or lists a directory. At most 2000 lines at a "
          "time: continue with offset. Binary files cannot be read.",
          read_schema(), ToolEffect::reads,
          [&blocking = needs.blocking](const ToolCall& call) { return read(blocking, call); }),
      file_tool(
          "Glob",
          "Finds files and directories whose paths match a pattern such as **/*.cpp or src/*.{ts,js}, newest first, "
          "at most 1000.",
          glob_schema, ToolEffect::reads,
          [&blocking = needs.blocking](const ToolCall& call) { return glob(blocking, call); }),
      file_tool(
          "Grep",
          "Searches the contents of files for a regular expression and shows matching lines as path:line:text. What "
          ".gitignore names, hidden and binary files are left out.",
          grep_schema, ToolEffect::reads, [needs](const ToolCall& call) { return grep(needs, call); })};
}

}  // namespace agw
