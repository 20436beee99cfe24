#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tools/glob_pattern.hpp"

namespace agw {

/// What the `.gitignore` files on the way to a directory say of what is in it. Later lines win over earlier ones, and
/// deeper files over those above them.
class IgnoreRules {
public:
  IgnoreRules() = default;

  /// Those for a directory below, with the text of its own `.gitignore` (empty for none).
  IgnoreRules below(std::string_view directory, std::string_view gitignore) const;

  /// Of a name in the directory.
  bool ignores(std::string_view name, bool is_directory) const;

private:
  struct Rule {
    GlobPattern pattern;
    bool negated;
    bool only_directories;
    bool anchored;  ///< matches the path from its own directory, not just a name
  };
  static std::vector<Rule> read(std::string_view gitignore);

  std::vector<std::shared_ptr<const std::vector<Rule>>> rules_;  ///< of each file, the topmost first
  std::vector<std::string> ways_;  ///< from where each file is to the directory, with a slash behind each name
};

}  // namespace agw
