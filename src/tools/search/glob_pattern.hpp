#pragma once

#include <memory>
#include <string_view>

namespace re2 {
class RE2;
}

namespace agw {

/// A glob pattern as in shells and `.gitignore`: `*` and `?` within a name, `**` across directories, `[a-z]`, `[!a]`,
/// `[[:alpha:]]`, `{a,b}` (not in `.gitignore`), `\` escapes. In a `.gitignore`, a character is a byte.
class GlobPattern {
public:
  enum class Syntax { shell, gitignore };
  /// Throws BadRequest for an invalid pattern.
  explicit GlobPattern(std::string_view pattern, Syntax syntax = Syntax::shell);

  bool matches(std::string_view path) const;

private:
  std::shared_ptr<const re2::RE2> expression_;  ///< of bytes
  std::shared_ptr<const re2::RE2> characters_;  ///< of UTF-8; null if that makes no difference
};

}  // namespace agw
