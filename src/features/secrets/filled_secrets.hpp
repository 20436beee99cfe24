#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agw {

/// The values that stand in a request or a process, so that what is told of it can be told without them.
class FilledSecrets {
public:
  void note(const std::string& value);
  /// `text` with `[secret]` where one of them stands: as it is, as a piece of a URL, in letters of either case.
  std::string hidden_in(std::string_view text) const;
  /// The same of what a service answers, in which a value of fewer than six bytes means something else more often.
  std::string hidden_in_answer(std::string_view text) const;
  /// The same of a text that was cut at its end, without as much of the end as may be the beginning of one of them.
  std::string hidden_in_cut(std::string_view text) const;

private:
  void hide(std::string form);
  std::string hidden_until(std::string_view text, std::size_t end, std::size_t shortest = 0) const;

  std::vector<std::string> forms_;  ///< in small letters, the longest first
};

}  // namespace agw
