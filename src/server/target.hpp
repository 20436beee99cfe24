#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace agw {

/// A request's target, taken apart: the path is split, then percent-decoded, and never normalised.
struct Target {
  std::optional<std::string> authority;                         ///< of an absolute form
  std::string_view path;                                        ///< as sent
  std::vector<std::string> segments;                            ///< `/a//b/` has the segments `a`, ``, `b`, ``
  std::vector<std::pair<std::string, std::string>> parameters;  ///< of the query, `+` is a space
  bool bad_path = false;                                        ///< a broken escape, `%00`, or no UTF-8
  bool bad_query = false;
};

/// Takes `target` (origin form or absolute form) apart. The views live as long as `target`.
Target parse_target(std::string_view target);

/// Undoes percent-encoding (RFC 3986); nothing for a broken escape, a NUL, or bytes that are not UTF-8.
std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_space);

}  // namespace agw
