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

private:
  void hide(std::string form);

  std::vector<std::string> forms_;  ///< the longest first
};

}  // namespace agw
