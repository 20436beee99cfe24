#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json/json.hpp"

namespace agw {

/// A model's thoughts in one step of an answer, in the form that its service accepts back: Message::provider_blocks.
struct StepThoughts {
  std::int64_t step = 1;  ///< counted from 1; thoughts after the last step have the next number
  std::string model;      ///< `<provider>/<model>`
  json::array blocks;
};

/// Thoughts by the id of the answer's turn.
using AnswerThoughts = std::map<std::string, std::vector<StepThoughts>, std::less<>>;

}  // namespace agw
