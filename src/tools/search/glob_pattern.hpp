#pragma once

#include <memory>
#include <string_view>

namespace re2 {
class RE2;
}

namespace agw {

/// A glob pattern as in shells and `.gitignore`: `*` and `?` within a name, `**` across directories, `[a-z]`, `[!a]`,
/// `{a,b}` (not in `.gitignore`), `\` escapes.
class GlobPattern {
public:
  enum class BraceExpansion { choice, literal };
  /// Throws BadRequest for an invalid pattern.
  explicit GlobPattern(std::string_view pattern, BraceExpansion braces = BraceExpansion::choice);

  bool matches(std::string_view path) const;

private:
  std::shared_ptr<const re2::RE2> expression_;  ///< of bytes
  std::shared_ptr<const re2::RE2> characters_;  ///< of UTF-8; null if that makes no difference
};

}  // namespace agw
