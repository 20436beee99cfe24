#include "tools/search/ripgrep_rules.hpp"

#include <string>
#include <vector>

#include "base/async/assert.hpp"
#include "base/text/is_within.hpp"
#include "tools/search/ignore_rules.hpp"

namespace agw {

namespace {

constexpr int max_rules_depth = 200;

/// Git does not support `{a,b}`, but it does support classes such as `[[:alpha:]]`.
bool differs_from_git(std::string_view gitignore) {
  return gitignore.find('{') != gitignore.npos || gitignore.find("[:") != gitignore.npos;
}

bool is_there(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::symlink_status(path, ignored).type() != std::filesystem::file_type::not_found;
}

/// Whether there are no rules above the working directory; `walk` does not use those.
bool has_no_rules_above(std::filesystem::path directory) {
  while (directory.has_relative_path()) {
    directory = directory.parent_path();
    if (is_there(directory / ".gitignore") || is_there(directory / ".rgignore")) return false;
  }
  return true;
}

/// Checks the rule files in all directories that ripgrep would enter.
class RulesScan {
public:
  RulesScan(const Directory& top, const StopFlag& stopped) : top_(top), stopped_(stopped) {}

  /// Whether ripgrep interprets the rules of the directory as `walk` does, and with `beneath` also those of its
  /// subdirectories.
  bool agrees(const std::string& path, const IgnoreRules& above, std::string_view name, bool beneath, int depth = 0) {
    std::vector<std::string> directories;
    bool has_rules = false;
    bool is_plain = true;
    bool is_repository = false;
    [[maybe_unused]] const auto visited = top_.visit(path.empty() ? "." : path, [&](DirectoryEntry entry) {
      if (entry.name == ".rgignore") is_plain = false;
      if (entry.name == ".git") is_repository = true;
      if (entry.name == ".gitignore") {
        has_rules = entry.type == FileType::regular;
        is_plain = is_plain && (has_rules || entry.type == FileType::directory);
      }
      const bool is_hidden = entry.name.starts_with('.');
      if (beneath && entry.type == FileType::directory && !is_hidden) directories.push_back(std::move(entry.name));
      return is_plain && !stopped_->load();
    });
    if (!is_plain) return false;
    const auto prefix = path.empty() ? "" : path + "/";
    const auto text = has_rules ? top_.read(prefix + ".gitignore", max_gitignore_size) : std::string();
    if (!text || differs_from_git(*text)) return false;
    // The rules above a nested repository do not apply to it.
    const auto rules = (is_repository ? IgnoreRules() : above).below(name, *text);
    if (depth >= max_rules_depth) return true;
    for (const auto& each : directories) {
      if (stopped_->load() || rules.ignores(each, true)) continue;
      if (!agrees(prefix + each, rules, each, true, depth + 1)) return false;
    }
    return true;
  }

private:
  const Directory& top_;
  const StopFlag& stopped_;
};

}  // namespace

std::optional<RulesAbove> rules_for_ripgrep(const OpenedPath& start, const FileRoots& roots, const StopFlag& stopped) {
  AGW_DEBUG_ASSERT(may_block());

  const auto top = open_directory(start);
  if (!RulesScan(top, stopped).agrees("", IgnoreRules(), "", true)) return std::nullopt;
  auto at = roots.working_directory();
  if (start.path == at || !is_within(start.path, at)) return RulesAbove::left_out;
  if (!has_no_rules_above(at)) return std::nullopt;
  for (const auto& next : start.path.lexically_relative(at)) {
    const auto above = locate(at, roots);
    if (above.problem || above.type != FileType::directory) return std::nullopt;
    const auto directory = open_directory(above);
    if (!RulesScan(directory, stopped).agrees("", IgnoreRules(), "", false)) return std::nullopt;
    at /= next;
  }
  return RulesAbove::followed;
}

}  // namespace agw
