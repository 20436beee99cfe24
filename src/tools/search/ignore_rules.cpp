#include "tools/search/ignore_rules.hpp"

#include <ranges>

#include "api/error.hpp"
#include "base/async/assert.hpp"

namespace agw {

namespace {

/// Removes the trailing spaces that Git ignores.
std::string_view trimmed(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  while (line.ends_with(' ')) {
    const auto shorter = line.substr(0, line.size() - 1);
    const auto last = shorter.find_last_not_of('\\');
    const auto backslashes = shorter.size() - (last == shorter.npos ? 0 : last + 1);
    if (backslashes % 2 == 1) break;
    line = shorter;
  }
  return line;
}

}  // namespace

std::vector<IgnoreRules::Rule> IgnoreRules::read(std::string_view gitignore) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (gitignore.starts_with(byte_order_mark)) gitignore.remove_prefix(byte_order_mark.size());
  std::vector<Rule> rules;
  while (!gitignore.empty()) {
    const auto end = std::min(gitignore.find('\n'), gitignore.size());
    auto line = trimmed(gitignore.substr(0, end));
    gitignore.remove_prefix(std::min(end + 1, gitignore.size()));
    if (line.empty() || line.starts_with('#')) continue;
    const bool negated = line.starts_with('!');
    if (negated) line.remove_prefix(1);
    const bool only_directories = line.ends_with('/');
    if (only_directories) line.remove_suffix(1);
    const bool anchored = line.find('/') != line.npos;
    if (line.starts_with('/')) line.remove_prefix(1);
    if (line.empty()) continue;
    try {
      rules.push_back({GlobPattern(line, GlobPattern::Syntax::gitignore), negated, only_directories, anchored});
    } catch (const ApiError&) {
      // Git also skips invalid rules.
      continue;
    }
  }
  return rules;
}

IgnoreRules IgnoreRules::below(std::string_view directory, std::string_view gitignore) const {
  auto deeper = *this;
  for (auto& way : deeper.ways_) way.append(directory).push_back('/');
  auto rules = read(gitignore);
  if (rules.empty()) return deeper;
  deeper.rules_.push_back(std::make_shared<const std::vector<Rule>>(std::move(rules)));
  deeper.ways_.emplace_back();
  AGW_ASSERT(deeper.ways_.size() == deeper.rules_.size());
  return deeper;
}

bool IgnoreRules::ignores(std::string_view name, bool is_directory) const {
  AGW_ASSERT(ways_.size() == rules_.size());
  for (auto level = rules_.size(); level-- > 0;) {
    const auto path = ways_[level] + std::string(name);
    for (const auto& rule : *rules_[level] | std::views::reverse) {
      if (rule.only_directories && !is_directory) continue;
      if (rule.pattern.matches(rule.anchored ? std::string_view(path) : name)) return !rule.negated;
    }
  }
  return false;
}

}  // namespace agw
