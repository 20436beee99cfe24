#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agw {

/// The secret values in a request or a process, to remove them from every report about it.
class FilledSecrets {
public:
  void add(const std::string& value);
  bool empty() const { return forms_.empty(); }
  /// `text` with `[secret]` in place of each value: in plain form, encoded for URLs, and in any case of letters.
  std::string hidden_in(std::string_view text) const;
  /// The same for a service's response, except for values of fewer than six bytes, which there usually mean something
  /// else.
  std::string hidden_in_response(std::string_view text) const;
  /// The same for a truncated text, also without an end that may be the beginning of a value.
  std::string hidden_in_cut(std::string_view text) const;

private:
  void hide(std::string form);
  std::string hidden_until(std::string_view text, std::size_t end, std::size_t shortest = 0) const;

  std::vector<std::string> forms_;  ///< in lower case, longest first
};

}  // namespace agw
