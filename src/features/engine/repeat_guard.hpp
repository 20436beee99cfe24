#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/model.hpp"

namespace agw {

/// Detects a model that is stuck: it makes the same call with the same input three times in a row.
class RepeatGuard {
public:
  /// Adds the calls of one step. Returns an error message if the model is stuck, otherwise no value.
  std::optional<std::string> problem(const std::vector<ToolUse>& uses);

private:
  std::optional<ToolUse> last_;
  int times_ = 0;
};

}  // namespace agw
