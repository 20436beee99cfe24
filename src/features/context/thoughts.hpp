#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json/json.hpp"

namespace agw {

/// A model's thoughts in a step of an answer, in the form that its service accepts back: Message::provider_blocks.
struct StepThoughts {
  std::int64_t step = 1;  ///< what comes after the last step has the number after it
  std::string model;      ///< `<provider>/<model>`
  json::array blocks;
};

/// By the answer's turn.
using AnswerThoughts = std::map<std::string, std::vector<StepThoughts>, std::less<>>;

}  // namespace agw
