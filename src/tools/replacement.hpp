#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace agw {

/// A text in a file and what is to stand in its place.
struct Replacement {
  std::string old_string;
  std::string new_string;
  bool all = false;
};

/// The new text, and how often it was replaced there.
struct Replaced {
  std::string text;
  std::size_t count = 0;
};

/// Replaces exactly what stands there. Throws BadRequest, for the model, where it stands nowhere, or several times
/// without `all`.
Replaced replace_in(std::string_view text, const Replacement& wanted);

}  // namespace agw
