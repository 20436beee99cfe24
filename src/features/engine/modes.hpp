#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/described.hpp"

namespace agw {

/// A built-in mode, as people choose it for a thread.
struct ModeDescription {
  std::string name;
  std::string label;
  std::string color;  ///< `#rrggbb`
  std::string description;
  std::string systemPrompt;                              ///< what the mode adds to the agent's own; may be empty
  std::optional<std::vector<std::string>> allowedTools;  ///< nothing: all
  bool requiresApproval = false;
};
const Description& describe(Tag<ModeDescription>);

/// plan and act, in this order. There are no others.
const std::vector<ModeDescription>& built_in_modes();

}  // namespace agw
