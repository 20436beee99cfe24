// The patterns that people's grants store, and the calls that they match.

#include <algorithm>
#include <filesystem>

#include "base/containers.hpp"
#include "features/permissions/command_words.hpp"
#include "features/permissions/service.hpp"

namespace agw {

namespace {

/// Bytes. A person must be able to read the whole pattern.
constexpr std::size_t max_pattern_length = 1000;

/// The directory that a grant would cover, such as `/home/x/project/`. A grant for writes can cover only places where
/// agents may write.
std::optional<std::string> directory_of(const ToolRequest& request) {
  const auto place = request.target.place;
  const bool writes = request.tool != "Ingest";
  if (writes && place != FilePlace::project && place != FilePlace::workspace) return std::nullopt;
  auto directory = std::filesystem::path(request.target.path).parent_path().string();
  if (!directory.starts_with('/')) return std::nullopt;
  return directory.ends_with('/') ? directory : directory + '/';
}

/// All patterns that match the command. The first is the one that a grant would store.
std::vector<std::string> command_patterns(const ToolRequest& request) {
  if (request.target.needs_network) return {};
  const auto words = words_of_command(request.target.command);
  if (!words) return {};
  std::vector<std::string> patterns;
  if (auto reading = reading_command(*words)) patterns.push_back(*std::move(reading));
  if (auto whole = quoted_words(*words); whole.size() <= max_pattern_length) patterns.push_back(std::move(whole));
  return patterns;
}

bool matches(const ToolRequest& request, const std::string& pattern) {
  const auto& target = request.target;
  if (runs_program(request) && target.host) return grant_pattern(request) == pattern;
  if (is_own_tool(request, {"Bash"})) {
    const auto patterns = command_patterns(request);
    return contains(patterns, pattern);
  }
  if (target.host && request.kind == ToolKind::own) return *target.host == pattern;
  if (!target.place) return grant_pattern(request) == pattern;
  return directory_of(request) && pattern.ends_with('/') && target.path.starts_with(pattern);
}

}  // namespace

std::optional<std::string> grant_pattern(const ToolRequest& request) {
  // Cannot be confused with the pattern of an action or command: names contain no parentheses, and words quote them.
  if (runs_program(request) && request.target.host) return "(host) " + *request.target.host;
  if (request.kind != ToolKind::own) return request.tool;
  // Each of these calls creates or changes another record, with permanent effects, so each needs its own approval.
  if (is_own_tool(request, {"CreateExtension", "UpdateExtension"})) return std::nullopt;
  if (is_own_tool(request, {"Bash"})) {
    const auto patterns = command_patterns(request);
    return patterns.empty() ? std::nullopt : std::optional(patterns.front());
  }
  if (request.target.place) return directory_of(request);
  if (request.target.host) return request.target.host;
  return is_own_tool(request, {"Write", "Edit"}) ? std::nullopt : std::optional(request.tool);
}

bool is_granted(const ToolRequest& request) {
  return request.grants && std::ranges::any_of(*request.grants, [&](const GrantedPattern& grant) {
           return grant.tool == request.tool && matches(request, grant.pattern);
         });
}

std::string shown_target(const ToolRequest& request) {
  const auto& target = request.target;
  if (!target.command.empty() && !target.host) return target.command;
  if (!target.path.empty()) return target.path;
  return target.host.value_or(request.tool);
}

}  // namespace agw
