#pragma once

#include <optional>
#include <string>
#include <vector>

#include "features/threads/types.hpp"

namespace agw {

/// A row of `GET /modes`. Modes are built in.
struct ModeDetail {
  std::string name;
  std::string label;
  std::string color;
  std::string description;
  std::string systemPrompt;
  std::optional<std::vector<std::string>> allowedTools;  ///< null: all
  bool requiresApproval = false;
};
const Description& describe(Tag<ModeDetail>);

/// All of them: plan, act.
const std::vector<ModeDetail>& modes();
const ModeDetail& mode_named(ThreadMode mode);

}  // namespace agw
