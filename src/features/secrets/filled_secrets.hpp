#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agw {

/// The secret values in a request or a process, which are removed from every report about it.
class FilledSecrets {
public:
  void add(const std::string& value);
  bool empty() const { return forms_.empty(); }
  /// Returns `text` with each value replaced by `[secret]`: in plain form, encoded for URLs, and ignoring case.
  std::string hidden_in(std::string_view text) const;
  /// Does the same for a service's response, except for values of fewer than six bytes, which usually have another
  /// meaning there.
  std::string hidden_in_response(std::string_view text) const;
  /// Does the same for a truncated text, and also removes an end that may be the beginning of a value.
  std::string hidden_in_cut(std::string_view text) const;

private:
  void hide(std::string form);
  std::string hidden_until(std::string_view text, std::size_t end, std::size_t shortest = 0) const;

  std::vector<std::string> forms_;  ///< in lower case, longest first
};

}  // namespace agw
