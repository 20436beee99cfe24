#pragma once

#include <memory>
#include <string_view>

namespace re2 {
class RE2;
}

namespace agw {

/// What shells and `.gitignore` understand by a pattern: `*` and `?` within a name, `**` across directories, `[a-z]`,
/// `[!a]`, `{a,b}` (not in `.gitignore`), `\` before what stands for itself.
class GlobPattern {
public:
  enum class Braces { choice, literal };
  /// Throws BadRequest for one that means nothing.
  explicit GlobPattern(std::string_view pattern, Braces braces = Braces::choice);

  bool matches(std::string_view path) const;

private:
  std::shared_ptr<const re2::RE2> expression_;  ///< of bytes
  std::shared_ptr<const re2::RE2> characters_;  ///< of UTF-8; null where that is no different
};

}  // namespace agw
