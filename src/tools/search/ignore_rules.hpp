#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tools/search/glob_pattern.hpp"

namespace agw {

/// Larger `.gitignore` files are treated as empty; in bytes.
inline constexpr std::size_t max_gitignore_size = std::size_t{1024} * 1024;

/// The rules of the `.gitignore` files from the root down to a directory, for its entries. Later lines override earlier
/// ones, and deeper files override those above.
class IgnoreRules {
public:
  IgnoreRules() = default;

  /// Returns the rules for a subdirectory, given the text of its own `.gitignore` (empty for none).
  IgnoreRules below(std::string_view directory, std::string_view gitignore) const;

  /// Whether an entry of the directory is ignored.
  bool ignores(std::string_view name, bool is_directory) const;

private:
  struct Rule {
    GlobPattern pattern;
    bool negated;
    bool only_directories;
    bool anchored;  ///< matches the path from its own directory, not just a name
  };
  static std::vector<Rule> read(std::string_view gitignore);

  std::vector<std::shared_ptr<const std::vector<Rule>>> rules_;  ///< one list per file, the topmost first
  std::vector<std::string> ways_;  ///< from each file's directory to this one, with a slash after each name
};

}  // namespace agw
