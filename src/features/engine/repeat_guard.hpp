#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/model.hpp"

namespace agw {

/// Notices a model that is caught in a circle: it makes the same call with the same input three times in a row.
class RepeatGuard {
public:
  /// Takes the calls of one step; says what is wrong with them.
  std::optional<std::string> problem(const std::vector<ToolUse>& uses);

private:
  std::optional<ToolUse> last_;
  int times_ = 0;
};

}  // namespace agw
