#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace agw {

/// A text in a file and its replacement.
struct Replacement {
  std::string old_string;
  std::string new_string;
  bool all = false;
};

/// The new text, and the number of replacements.
struct ReplaceResult {
  std::string text;
  std::size_t count = 0;
};

/// Replaces exact matches. In a text whose lines all end with CR LF, line feeds stand for CR LF, unless a CR is given.
/// Throws BadRequest, for the model, if there is no match, or several without `all`; it names the lines.
ReplaceResult replace_in(std::string_view text, const Replacement& wanted);

}  // namespace agw
