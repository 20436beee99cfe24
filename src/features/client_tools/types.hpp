#pragma once

#include <string>
#include <vector>

#include "base/json/json.hpp"
#include "models/model.hpp"

namespace agw {

/// The tools and texts that a program lends with its message `offer`.
struct LentTools {
  std::vector<ToolDescription> tools{};
  std::string system{};  ///< appended to the agent's system prompt
  bool reads_files = false;
  bool writes_files = false;
};

/// Reads the members of an `offer`. Throws BadRequest.
LentTools read_offer(const json::object& message);

}  // namespace agw
