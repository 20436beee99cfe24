#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace agw {

/// A parsed request target. The path is split first, then percent-decoded, and never normalized.
/// Example: src/server/http/target_test.cpp: Target.IsSplitThenDecodedAndNeverNormalised
struct Target {
  std::optional<std::string> authority;                         ///< only in the absolute form
  std::string_view path;                                        ///< as sent
  std::vector<std::string> segments;                            ///< `/a//b/` has the segments `a`, ``, `b`, ``
  std::vector<std::pair<std::string, std::string>> parameters;  ///< of the query; `+` means a space
  bool bad_path = false;                                        ///< a broken escape, `%00`, or invalid UTF-8
  bool bad_query = false;
};

/// Parses `target` (origin form or absolute form). The views refer to `target`.
Target parse_target(std::string_view target);

/// Throws BadRequest `invalid path`.
void check_path(const Target& target);
/// Throws BadRequest `invalid path` or `invalid query`.
void check_target(const Target& target);

/// What `+` stands for: for itself in a path, for a space in a query.
enum class Plus { itself, space };
/// Decodes percent-encoding (RFC 3986); nullopt for a broken escape, a NUL, or invalid UTF-8.
std::optional<std::string> percent_decoded(std::string_view text, Plus plus = Plus::itself);

}  // namespace agw
